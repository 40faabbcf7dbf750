// The dock with open approval requests. Shows the server's forms until each request is settled here, in
// another tab, by the policy or by its deadline.
import { $, make, tell, toast } from "./dom.js";
import * as api from "./api.js";
import { eachSecond, span } from "./clocks.js";
import { shorten } from "./diffs.js";

export class Dock {
  constructor(id, place, facts) {
    this.id = id;
    this.place = place;
    this.facts = facts;
    this.held = new Map(); // forms from entries, by request id
    this.names = new Map(); // the server's approval id of each request
  }

  open() {
    for (const form of this.place.querySelectorAll("form.ask")) this.#arm(form);
    this.place.addEventListener("submit", (event) => this.#decide(event));
    document.addEventListener("keydown", (event) => this.#key(event));
    eachSecond(() => this.#count());
    this.check();
  }

  take(entry, isNew) {
    const { approval, settles } = entry.dataset;
    if (settles) {
      this.held.delete(settles);
      this.#remove(settles);
    }
    if (approval && this.#call(approval)) entry.classList.add("has-call"); // the card of its call shows the request
    const template = approval && entry.querySelector("template");
    if (!template) return;
    this.held.set(approval, template.content.firstElementChild);
    template.remove();
    if (isNew) this.check();
  }

  // Show only what the server lists as open: old sessions contain many requests without an answer.
  async check() {
    if (!this.held.size && !this.place.childElementCount) return;
    const given = await api.approvals(this.id).catch(() => null);
    if (!given) return;
    const open = new Map(given.approvals.map((each) => [each.request.approval_id, each]));
    for (const form of [...this.place.children]) if (!open.has(form.dataset.approval)) this.#remove(form.dataset.approval);
    for (const [approval, known] of open) {
      const shown = this.#form(approval);
      const form = shown ?? this.held.get(approval);
      if (!form) continue;
      this.names.set(approval, known.id);
      if (known.deadline_at) form.dataset.deadline = known.deadline_at;
      if (!shown) this.#show(form);
      const entry = document.querySelector(`#log [data-approval="${CSS.escape(approval)}"]`);
      entry?.classList.add("is-asked"); // the form shows it in full
      this.#call(approval)?.classList.add("is-asked");
      const decision = entry?.querySelector(".decision");
      if (decision) decision.textContent = "waiting for you";
    }
    if (this.place.childElementCount) this.facts.state("waiting");
    this.#count();
  }

  #form(approval) {
    return this.place.querySelector(`form[data-approval="${CSS.escape(approval)}"]`);
  }

  #show(form) {
    this.#arm(form);
    this.place.append(form);
    const words = form.querySelector("h2").firstChild.nextSibling?.textContent ?? "The agent asks for approval";
    const what = form.querySelector(".ask-body")?.textContent.slice(0, 200) ?? "";
    tell(`${words} ${what}`, { urgent: true });
  }

  #arm(form) {
    shorten(form);
    form.dataset.since ??= String(Date.now());
  }

  // The card of the requested call. A second request for the same item has an id like call-2.
  #call(approval) {
    return document.querySelector(`#log [data-call="${CSS.escape(approval.replace(/-\d+$/, ""))}"], #log [data-call="${CSS.escape(approval)}"]`);
  }

  #remove(approval) {
    this.#call(approval)?.classList.remove("is-asked");
    document.querySelector(`#log .is-asked[data-approval="${CSS.escape(approval)}"]`)?.classList.remove("is-asked");
    const form = this.#form(approval);
    if (!form) return;
    const hadFocus = form.contains(document.activeElement);
    form.remove();
    if (!this.place.childElementCount && this.facts.now === "waiting") this.facts.state("working");
    if (hadFocus) (this.place.querySelector("button.decide") ?? $("words")).focus();
  }

  #count() {
    for (const form of this.place.querySelectorAll("form[data-deadline]")) {
      const end = Date.parse(form.dataset.deadline);
      const left = (end - Date.now()) / 1000;
      const shown = form.querySelector(".countdown");
      shown.replaceChildren(left > 0 ? `denied in ${span(left)}` : "the deadline has passed", left > 0 ? make("span", {}, " without an answer") : "");
      shown.classList.toggle("soon", left < 30);
    }
  }

  async #decide(event) {
    event.preventDefault();
    const form = event.target;
    const decision = event.submitter?.value || "deny";
    const given = { session_id: this.id, decision };
    const word = form.querySelector(".word-to-agent")?.value.trim();
    if (word) given.message = word;
    if (form.dataset.ask === "question" && decision === "answered") {
      given.answers = answers(form);
      if (Object.values(given.answers).some((each) => !each.length)) return wrong(form, "Answer each question.");
    }
    const fields = form.querySelectorAll("[data-field]");
    if (fields.length && decision.startsWith("allow")) given.content = content(fields);
    wrong(form, "");
    const buttons = [...form.querySelectorAll("button")];
    for (const button of buttons) button.disabled = true;
    try {
      await api.decide(this.names.get(form.dataset.approval) ?? form.dataset.approval, given);
      this.held.delete(form.dataset.approval);
      this.#remove(form.dataset.approval);
    } catch (error) {
      for (const button of buttons) button.disabled = false;
      wrong(form, error.message);
      await this.check(); // it may have been settled elsewhere
      if (!form.isConnected) toast(error.message, "error"); // the form is gone, so show the error here
    }
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
    const form = this.place.querySelector("form.ask");
    const button = form?.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
    if (!button) return;
    // A key press meant for something else must not answer a request that has just appeared.
    if (Date.now() - Number(form.dataset.since) < 700) return;
    event.preventDefault();
    form.requestSubmit(button);
  }
}

function wrong(form, words) {
  const problem = form.querySelector(".problem");
  problem.textContent = words;
  problem.hidden = !words;
}

function answers(form) {
  const found = {};
  for (const question of form.querySelectorAll(".question")) {
    const own = question.querySelector(".own")?.value.trim();
    const chosen = question.querySelector("input[type=radio]:checked")?.value;
    found[question.dataset.question] = own ? [own] : chosen ? [chosen] : [];
  }
  return found;
}

// Empty fields are omitted; the server reports missing required ones.
function content(fields) {
  const found = {};
  for (const field of fields) {
    const value = filled(field);
    if (value !== undefined) found[field.dataset.field] = value;
  }
  return found;
}

function filled(field) {
  const { type, items } = field.dataset;
  if (field.localName === "fieldset") return [...field.querySelectorAll("input:checked")].map((box) => JSON.parse(box.value));
  if (type === "boolean") return field.checked;
  if (type === "enum") return field.selectedIndex ? JSON.parse(field.value) : undefined;
  if (field.value.trim() === "") return undefined;
  if (type === "integer" || type === "number") return Number(field.value);
  if (type !== "array") return field.value;
  const words = field.value.split(",").map((word) => word.trim()).filter(Boolean);
  return items === "integer" || items === "number" ? words.map(Number) : words;
}
