// The form for a new session.
import { $, renew } from "./dom.js";
import * as api from "./api.js";
import { whenTold } from "./sessions.js";

const SANDBOXES = {
  "read-only": "It may read files and change nothing,",
  "workspace-write": "It may change files in this folder, without the network,",
  "danger-full-access": "It may do anything that you may, everywhere,",
};
const ASKS = {
  "on-request": "and asks you when it needs more.",
  untrusted: "and asks you before all but harmless commands.",
  "on-failure": "and asks you when the sandbox stopped a command.",
  never: "and never asks you.",
};

export function begin() {
  lists();
  const form = $("start");
  const fields = form.elements;
  for (const name of ["cwd", "model", "sandbox", "approvals"]) {
    const kept = localStorage.getItem(`dragoman-${name}`);
    if (kept && (fields[name].tagName === "INPUT" || [...fields[name].options].some((each) => each.value === kept))) fields[name].value = kept;
  }
  const explain = () => {
    $("means").textContent = `${SANDBOXES[fields.sandbox.value] ?? ""} ${ASKS[fields.approvals.value] ?? ""}`;
    $("means").classList.toggle("free", fields.sandbox.value === "danger-full-access");
  };
  form.addEventListener("change", explain);
  explain();
  $("prompt").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button[type=submit]");
    if (button.disabled) return;
    button.disabled = true;
    $("problem").textContent = "";
    const given = { prompt: fields.prompt.value, cwd: fields.cwd.value, sandbox: fields.sandbox.value, approvals: fields.approvals.value };
    if (fields.model.value !== "default") given.model = fields.model.value;
    for (const name of ["cwd", "model", "sandbox", "approvals"]) localStorage.setItem(`dragoman-${name}`, fields[name].value);
    try {
      const made = await api.start(given);
      location.assign(`/s/${encodeURIComponent(made.id)}`);
    } catch (error) {
      $("problem").textContent = error.message;
      button.disabled = false;
    }
  });
}

// The server renders the cards below: reload them when the session list changes.
function lists() {
  let timer = 0;
  whenTold(() => {
    timer ||= setTimeout(() => {
      timer = 0; // later changes need another reload
      renew("lists");
    }, 500);
  });
}
