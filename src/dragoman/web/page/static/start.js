// The form for a new session. Its choices come from the server, one set for each agent.
import { $, renew } from "./dom.js";
import * as api from "./api.js";
import { whenTold } from "./sessions.js";

// An agent may have an access value called "default"; for the model and the effort, it means: not set.
const isUnset = (select) => select.value === "default" && (select.name === "model" || select.name === "effort");

export function begin() {
  lists();
  const form = $("start");
  const keep = (name, harness) => `dragoman-${harness ? `${harness}-` : ""}${name}`;
  const kept = (name, harness) => localStorage.getItem(keep(name, harness));

  form.elements.cwd.value = kept("cwd") ?? form.elements.cwd.value;
  for (const choices of form.querySelectorAll(".choices")) {
    for (const select of choices.querySelectorAll("select")) {
      const before = kept(select.name, choices.dataset.harness);
      if ([...select.options].some((each) => each.value === before)) select.value = before;
    }
  }
  const before = [...form.querySelectorAll("[name=harness]")].find((each) => each.value === kept("harness"));
  if (before && !before.closest(".unavailable")) before.checked = true;

  const harness = () => form.querySelector("[name=harness]:checked")?.value;
  const chosen = () => [...form.querySelectorAll(".choices")].find((each) => each.dataset.harness === harness());
  const explain = () => {
    for (const each of form.querySelectorAll(".choices")) each.hidden = each.disabled = each !== chosen();
    const options = [...(chosen()?.querySelectorAll("[name=access], [name=asking]") ?? [])].map((each) => each.selectedOptions[0]);
    $("means").textContent = options.map((each) => each?.dataset.summary ?? "").join(" ");
    $("means").classList.toggle("free", options.some((each) => each?.dataset.full));
    form.querySelector("button[type=submit]").disabled = chosen()?.dataset.installed === "false";
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
    const given = { prompt: form.elements.prompt.value, cwd: form.elements.cwd.value };
    localStorage.setItem(keep("cwd"), given.cwd);
    if (harness()) {
      given.harness = harness();
      localStorage.setItem(keep("harness"), given.harness);
    }
    for (const select of chosen()?.querySelectorAll("select") ?? []) {
      localStorage.setItem(keep(select.name, given.harness), select.value);
      if (!isUnset(select)) given[select.name] = select.value;
    }
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
