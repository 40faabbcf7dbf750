// Text in progress: deltas, which may be lost, are shown until the complete message arrives.
import { clean, make } from "./dom.js";

const MOST = 60_000; // the most characters shown of a running command's output

export class Live {
  constructor(place) {
    this.place = place;
    this.said = new Map();
    this.waiting = new Map(); // text to add in the next frame
    this.frame = 0;
    this.agents = new Set(); // the known sub-agents
    this.early = new Map(); // output that arrived before the card of its command
    this.cut = new WeakMap(); // the start of an incomplete escape sequence
  }

  // The text so far replaces what is shown of it.
  begin(delta, log) {
    const of = delta.of ?? "text";
    const name = delta.message_id ?? "";
    if (of === "output") {
      this.early.delete(name);
      this.#empty(log.querySelector(`[data-call="${CSS.escape(name)}"] > .use.open .output.live`));
    } else this.#empty(this.said.get(this.#key(delta)));
    this.hear(delta, log);
  }

  #empty(element) {
    if (!element) return;
    element.textContent = "";
    this.waiting.delete(element);
    this.cut.delete(element);
  }

  #key(delta) {
    return `${this.agents.has(delta.session_id) ? delta.session_id : ""} ${delta.of ?? "text"} ${delta.message_id ?? ""}`;
  }

  hear(delta, log) {
    const of = delta.of ?? "text";
    if (of === "output") {
      const call = delta.message_id ?? "";
      const card = log.querySelector(`[data-call="${CSS.escape(call)}"] > .use.open`);
      if (card) this.#run(card, delta.text);
      else this.early.set(call, ((this.early.get(call) ?? "") + delta.text).slice(-MOST));
      return;
    }
    const agent = this.agents.has(delta.session_id) ? delta.session_id : "";
    const key = this.#key(delta);
    let text = this.said.get(key);
    if (!text) {
      text = make("div", { class: "streaming" });
      const who = of === "thinking" ? "Thinking" : agent ? "Sub-agent" : of === "plan" ? "Planning" : "";
      const box = make("div", { class: `entry said live-${of}`, "data-of": of, "data-id": delta.message_id ?? "", "data-from": agent });
      if (who) box.append(make("span", { class: "who" }, who));
      box.append(text);
      this.place.append(box);
      this.said.set(key, text);
    }
    this.#later(text, delta.text);
  }

  #run(card, text) {
    let out = card.querySelector(".output.live");
    if (!out) card.append((out = make("pre", { class: "output live" })));
    this.#later(out, text);
  }

  // Shows output that arrived before its card.
  carded(log) {
    for (const [call, text] of this.early) {
      const entry = log.querySelector(`[data-call="${CSS.escape(call)}"]`);
      const card = entry?.querySelector(":scope > .use.open");
      if (card) this.#run(card, text);
      if (entry) this.early.delete(call);
    }
  }

  #later(element, text) {
    this.waiting.set(element, (this.waiting.get(element) ?? "") + text);
    this.frame ||= requestAnimationFrame(() => this.#flush());
  }

  #flush() {
    this.frame = 0;
    for (const [element, text] of this.waiting) {
      const whole = (this.cut.get(element) ?? "") + text;
      const end = /\x1b[^a-zA-Z~\x07]{0,200}$/.exec(whole)?.index ?? whole.length;
      this.cut.set(element, whole.slice(end));
      element.append(clean(whole.slice(0, end)));
      element.normalize();
      if (element.textContent.length > MOST) element.textContent = `…${element.textContent.slice(-MOST / 2)}`;
      if (element.matches(".output")) element.scrollTop = element.scrollHeight;
    }
    this.waiting.clear();
  }

  // A complete message has arrived: remove its deltas.
  settle(entry, isNew) {
    const { kind, message, agent = "" } = entry.dataset;
    if (agent) this.agents.add(agent);
    if (!isNew) return;
    if (kind === "turn_ended" && !agent) return this.clear();
    if (kind !== "text" && kind !== "thinking" && kind !== "plan" && kind !== "tool_call") return;
    for (const [key, text] of this.said) {
      const { of, id, from } = text.parentElement.dataset;
      if (from !== agent) continue;
      const isIt = kind === "text" ? of === "text" && (!message || !id || id === message) : of === kind || of === "thinking";
      if (!isIt) continue;
      text.parentElement.remove();
      this.waiting.delete(text);
      this.said.delete(key);
    }
  }

  clear() {
    this.place.replaceChildren();
    this.said.clear();
    this.waiting.clear();
    this.early.clear();
  }
}
