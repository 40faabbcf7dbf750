// Places entries: results into the cards of their calls, decisions into the cards of their requests, and entries
// of a sub-agent into its group. It only moves nodes that the server rendered.
import { make } from "./dom.js";

const STATES = ["open", "ok", "bad", "declined", "abandoned"];

const STANDING = ".is-diff, .is-plan"; // only the newest one of a turn is shown

const sameOf = (entry, root) =>
  [...root.querySelectorAll(`[data-kind="${entry.dataset.kind}"]`)].filter(
    (each) => each !== entry && each.dataset.turn === entry.dataset.turn && each.dataset.agent === entry.dataset.agent,
  );

export class Places {
  constructor(list) {
    this.list = list;
  }

  append(entry) {
    const kept = this.#joined(entry, this.list);
    if (kept) this.#put(entry, this.list);
  }

  prepend(entries) {
    const front = document.createElement("div");
    for (const entry of entries) if (this.#joined(entry, front)) this.#put(entry, front);
    // Later entries may belong to these.
    for (const late of this.list.querySelectorAll("[data-result]")) if (!this.#joined(late, front)) late.remove();
    for (const late of this.list.querySelectorAll("[data-settles][data-decision]")) if (!this.#joined(late, front)) late.remove();
    for (const old of front.querySelectorAll(STANDING)) if (sameOf(old, this.list).length) old.remove();
    this.list.prepend(...front.childNodes);
  }

  // Merges the entry into the card that it belongs to. Returns whether it is to be shown separately.
  #joined(entry, root) {
    const { result, settles, decision } = entry.dataset;
    if (entry.classList.contains("fact")) return false;
    if (result) {
      const card = root.querySelector(`[data-call="${CSS.escape(result)}"] > .use`);
      if (card) merge(card, entry.querySelector(".use"));
      return !card;
    }
    if (settles && decision) {
      const card = root.querySelector(`[data-approval="${CSS.escape(settles)}"] > .approval`);
      if (card) settle(card, decision);
      return !card;
    }
    if (entry.matches(STANDING)) for (const old of sameOf(entry, root)) old.remove();
    return true;
  }

  #put(entry, root) {
    const { agent } = entry.dataset;
    if (!agent) {
      root.append(entry);
      return;
    }
    this.#group(agent, entry, root).append(entry);
  }

  // The group of a sub-agent in this turn, created if needed.
  #group(agent, entry, root) {
    const all = root.querySelectorAll(`details.agent[data-agent="${CSS.escape(agent)}"]`);
    const newest = all[all.length - 1];
    const { parent, title } = entry.dataset;
    if (newest && !turnBegunAfter(newest, root)) {
      if (title) newest.querySelector("summary .title").textContent = title;
      return newest;
    }
    const group = make(
      "details",
      { class: "agent", "data-agent": agent, open: true },
      make("summary", {}, make("span", { class: "name" }, "Sub-agent "), make("span", { class: "title" }, entry.classList.contains("is-session-started") ? title ?? "" : agent.slice(0, 8))),
    );
    const outer = parent && root.querySelector(`details.agent[data-agent="${CSS.escape(parent)}"]`);
    (outer || root).append(group);
    return group;
  }
}

function turnBegunAfter(group, root) {
  let top = group;
  while (top.parentElement !== root) top = top.parentElement;
  for (let next = top.nextElementSibling; next; next = next.nextElementSibling) if (next.classList.contains("is-turn-started")) return true;
  return false;
}

// Merges a result, rendered as a separate card, into the card of its call.
function merge(card, late) {
  const state = STATES.find((each) => late.classList.contains(each)) ?? "ok";
  card.classList.remove("running", ...STATES);
  card.classList.add(state);
  // Replace live output and any earlier result: an abandoned call may still get its real result.
  for (const old of card.querySelectorAll(":scope > .output.live, :scope > [data-late]")) old.remove();
  for (const each of late.children) each.dataset.late = "";
  const facts = card.querySelector(".facts");
  const told = late.querySelector(".facts");
  if (facts && told) facts.replaceChildren(...told.childNodes);
  const isQuiet = card.classList.contains("edit") || card.classList.contains("plan");
  if (!isQuiet || state === "bad") card.append(...[...late.children].filter((each) => !each.classList.contains("bar")));
}

function settle(card, decision) {
  const state = /^(accept|approve|allow|yes|grant)/i.test(decision) ? "yes" : /^(de|cancel|abort|no|refuse)/i.test(decision) ? "no" : "settled";
  card.classList.remove("open");
  card.classList.add(state);
  const shown = card.querySelector(".decision");
  if (shown) shown.textContent = decision;
}
