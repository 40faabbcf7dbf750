// Tools of a conversation: move between turns, copy, link, rename, fork, hand off.
import { $, copy, make, toast, tell } from "./dom.js";
import * as api from "./api.js";
import { toggleAll } from "./diffs.js";
import { focusOn } from "./log.js";

const made = (answer) => encodeURIComponent(answer.id);

export function tools(id, log, ending) {
  const acts = {
    previous: () => turn(log, -1),
    next: () => turn(log, 1),
    split: () => tell(toggleAll() ? "Changes side by side" : "Changes one below the other"),
    details: () => fold(),
    raw: () => document.body.classList.toggle("show-raw"),
    rename: () => rename(id),
    fork: async () => location.assign(`/s/${made(await api.act(id, "fork"))}`),
    archive: async () => {
      await api.act(id, "archive");
      location.assign("/");
    },
    unarchive: async () => {
      await api.act(id, "unarchive");
      location.reload();
    },
    stop: () => ending.session(),
    handoff: async (button) => (await import("./handoff.js")).handOff(id, button.dataset.to),
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-act]");
    const act = button?.dataset.act;
    const menu = document.querySelector("details.menu-holder[open]");
    if (menu && !menu.contains(event.target)) menu.open = false;
    if (!acts[act]) return;
    if (menu) menu.open = false;
    try {
      await acts[act](button);
    } catch (error) {
      toast(error.message, "error");
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const menu = document.querySelector("details.menu-holder[open]");
    if (!menu && !isOver()) return;
    event.preventDefault();
    if (!menu) return fold();
    menu.open = false;
    menu.querySelector("summary").focus();
  }, true);
  bar(log);
}

// The sidebar: next to the conversation if there is room, until it is closed;
// otherwise on top of it.
const isOver = () => $("rail").classList.contains("open") && getComputedStyle($("rail")).position === "absolute";

function fold() {
  $("rail").classList.toggle("open");
  const isSeen = getComputedStyle($("rail")).display !== "none";
  const button = document.querySelector("[data-act=details]");
  button.setAttribute("aria-expanded", String(isSeen));
  if (isOver()) $("rail").focus();
  else if (!isSeen) button.focus();
}

// Moves to another turn, and loads it if it is not in the document.
async function turn(log, way) {
  const { top, bottom } = log.scroller.getBoundingClientRect();
  const topOf = (each) => each.getBoundingClientRect().top;
  const isSeen = (each) => topOf(each) < bottom && each.getBoundingClientRect().bottom > top;
  const beyond = () => {
    const heads = [...log.list.querySelectorAll(":scope > .is-prompt")];
    // Start from the focused turn, or from what is visible.
    const here = heads.findIndex((each) => each === document.activeElement && isSeen(each));
    if (here >= 0) return way > 0 ? heads.slice(here + 1) : heads.slice(0, here);
    return heads.filter((each) => (way > 0 ? topOf(each) > top + 30 : topOf(each) < bottom - 30));
  };
  let target = way > 0 ? beyond()[0] : beyond().at(-1);
  if (!target && way < 0 && log.hasEarlier) {
    await log.older();
    target = beyond().at(-1);
  }
  if (!target && way > 0) return log.newest();
  if (!target) return;
  log.stuck = false;
  target.scrollIntoView({ block: "start" });
  focusOn(target);
  tell(target.dataset.title ?? "");
}

// One toolbar for all entries: it moves to the one under the pointer or with the focus.
function bar(log) {
  const take = make("button", { type: "button", title: "Copy (c)" }, "Copy");
  const link = make("button", { type: "button", title: "Copy the link" }, "Link");
  const tool = make("div", { class: "entry-tools", role: "toolbar", "aria-label": "This entry" }, take, link);
  let entry = null;
  const at = (event) => {
    const found = event.target.closest?.(".entry");
    if (!found || found === entry || !log.list.contains(found) || tool.contains(event.target)) return;
    if (found.matches(".is-turn-started, .is-turn-ended, .is-session-started")) return;
    entry = found;
    entry.append(tool);
  };
  log.list.addEventListener("pointerover", at);
  log.list.addEventListener("focusin", at);
  take.addEventListener("click", () => copy(wordsOf(entry)));
  link.addEventListener("click", () => copy(`${location.origin}${location.pathname}#e${entry.dataset.seq}`, "Link copied"));
  document.addEventListener("copy-entry", () => entry && copy(wordsOf(entry)));
}

function wordsOf(entry) {
  const whole = entry.cloneNode(true);
  for (const each of whole.querySelectorAll(".entry-tools, .here, .bar, .prompt-sign, .diff-tools, .split, .who, template, .aside-word")) each.remove();
  for (const each of whole.querySelectorAll(".hunks")) each.hidden = false;
  return whole.textContent.trim();
}

// The title may change later, or in another tab.
export function entitle(words) {
  const title = $("title"); // absent while the title is being edited
  if (!title || title.textContent === words) return;
  document.title = document.title.replace(title.textContent, words);
  title.textContent = words;
}

function rename(id) {
  const title = $("title");
  const field = make("input", { value: title.textContent, "aria-label": "Title of the session", class: "rename" });
  let isOver = false;
  const end = async (keep) => {
    if (isOver) return; // removing the field blurs it, which would end the edit again
    isOver = true;
    const words = field.value.trim();
    field.replaceWith(title);
    if (!keep || !words || words === title.textContent) return;
    try {
      await api.rename(id, words);
      entitle(words);
    } catch (error) {
      toast(error.message, "error");
    }
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") end(true);
    if (event.key === "Escape") {
      event.preventDefault();
      end(false);
    }
  });
  field.addEventListener("blur", () => end(true));
  title.replaceWith(field);
  field.select();
}
