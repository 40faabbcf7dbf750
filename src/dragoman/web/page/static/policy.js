// The policy page: edits the rules, tries them on past requests, and saves them if they are valid.
import { $, clean, make, toast } from "./dom.js";
import * as api from "./api.js";

export function begin() {
  const form = $("policy");
  const rules = $("rules");
  const number = () => {
    const count = rules.value.split("\n").length;
    $("numbers").textContent = Array.from({ length: count }, (_, at) => at + 1).join("\n") + "\n\n";
    rules.rows = Math.min(22, Math.max(12, count + 1));
  };
  rules.addEventListener("scroll", () => ($("numbers").scrollTop = rules.scrollTop));
  rules.addEventListener("input", () => {
    number();
    clearTimeout(form.timer);
    form.timer = setTimeout(() => attempt(rules.value), 500); // try the rules while the user types
  });
  rules.addEventListener("keydown", (event) => {
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("[value=save]"));
    }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (event.submitter?.value !== "save") return attempt(rules.value);
    try {
      await api.savePolicy(rules.value);
      wrong(null);
      kept = rules.value;
      toast("Saved. The rules apply from now on.");
    } catch (error) {
      wrong(error.message);
      toast("Not saved", "error");
    }
  });
  $("example").addEventListener("click", () => {
    const example = $("example-text").textContent;
    // The lines before the first rule may occur only once, at the top.
    rules.value = rules.value.trim() ? `${rules.value.trimEnd()}\n\n${example.slice(example.indexOf("[[rule]]"))}` : example;
    rules.dispatchEvent(new Event("input"));
    rules.focus();
  });
  let kept = rules.value;
  addEventListener("beforeunload", (event) => rules.value !== kept && event.preventDefault());
  number();
  attempt(rules.value);
  remembered();
}

// Rules that the agent has stored: listed with their file, and removed one by one.
async function remembered() {
  const given = await api.remembered().catch(() => ({ rules: [] }));
  const rows = given.rules.map((rule) => {
    const what = rule.host ? `connect to ${rule.host}` : rule.prefix.join(" ");
    const remove = make("button", { type: "button", class: "button quiet", "aria-label": `Remove ${clean(what)}` }, "Remove");
    remove.addEventListener("click", async () => {
      remove.disabled = true;
      await api.forget(rule.id).then(() => toast("Removed."), (error) => toast(error.message, "error"));
      remembered();
    });
    return make("li", {}, make("span", { class: "verdict", "data-word": rule.decision }, rule.decision), " ", make("code", {}, clean(what)), make("small", {}, `${clean(rule.stored_in)}, line ${rule.line}`), remove);
  });
  $("remembered").replaceChildren(...(rows.length ? rows : [make("li", { class: "sub" }, "None yet.")]));
}

function wrong(words) {
  $("problem").textContent = words ?? "";
  $("rules").setAttribute("aria-invalid", String(Boolean(words)));
}

async function attempt(text) {
  try {
    const answer = await api.tryPolicy(text);
    wrong(null);
    show(answer.verdicts);
  } catch (error) {
    wrong(error.message);
  }
}

function show(verdicts) {
  const counts = {};
  const rows = verdicts.map((each) => {
    const word = each.decision;
    counts[word] = (counts[word] ?? 0) + 1;
    const what = clean(each.summary || each.kind);
    const place = each.session_id ? make("a", { href: `/s/${encodeURIComponent(each.session_id)}${each.seq ? `#e${each.seq}` : ""}` }, what) : what;
    const was = each.was && each.was !== word ? make("small", {}, `was ${each.was}`) : "";
    return make("tr", {}, make("td", {}, make("span", { class: "verdict", "data-word": word }, word), was), make("td", {}, each.kind), make("td", { class: "what" }, place), make("td", { class: "sub" }, each.rule ?? "default"));
  });
  const head = make("thead", {}, make("tr", {}, ...["Decision", "Kind", "Request", "Rule"].map((each) => make("th", { scope: "col" }, each))));
  $("verdicts").replaceChildren(head, make("tbody", {}, ...rows));
  const words = Object.entries(counts).map(([word, count]) => `${count} ${word}`);
  $("verdicts").parentElement.hidden = !verdicts.length;
  const asked = `${verdicts.length} past request${verdicts.length === 1 ? "" : "s"}`;
  $("tried").textContent = verdicts.length ? `${asked}: ${words.join(", ")}.` : "No past requests to try it on.";
}
