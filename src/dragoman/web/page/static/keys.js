// Keyboard shortcuts. They work outside of text fields; "?" lists them.
import { $, make } from "./dom.js";

const LISTED = [
  ["Everywhere", [["?", "this list"], ["/", "search"], ["n", "new session"], ["g h", "history"], ["g u", "usage"], ["g p", "policy"], ["[  ]", "session above, below"]]],
  ["In a session", [["j  k", "next, previous turn"], ["↓  ↑", "next, previous entry"], ["G", "to the newest"], ["r", "write to the agent"], ["Esc", "leave the text; then stop the turn"], ["c", "copy the entry"], ["o", "open or fold it"], ["d", "changes side by side"], ["i", "plan, turns and usage"]]],
  ["When the agent asks", [["a", "to the request"], ["y", "allow"], ["s", "allow for this session"], ["w", "always allow"], ["n", "deny"], ["x", "deny and stop"]]],
];

export function keys() {
  $("keys").addEventListener("click", help);
  let before = "";
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input, textarea, select, dialog")) return;
    const both = before === "g" ? `g ${event.key}` : event.key;
    before = event.key;
    const act = ACTS[both];
    if (!act) return;
    // While a request is open, n denies it.
    if (both === "n" && document.querySelector("#dock form")) return;
    if (act() !== false) event.preventDefault();
  });
}

const press = (name) => () => document.querySelector(`[data-act=${name}]`)?.click();
const go = (address) => () => location.assign(address);

const ACTS = {
  "?": help,
  "/": () => ($("query") ?? openSide($("search"))).focus(),
  n: go("/"),
  "g h": go("/history"),
  "g u": go("/usage"),
  "g p": go("/policy"),
  "[": () => neighbour(-1),
  "]": () => neighbour(1),
  j: press("next"),
  k: press("previous"),
  d: press("split"),
  i: press("details"),
  G: () => $("newest")?.click(),
  r: () => $("words")?.focus(),
  a: () => document.querySelector("#dock button.decide, #dock input")?.focus(),
  c: () => document.dispatchEvent(new CustomEvent("copy-entry")),
  o: () => {
    const fold = document.activeElement.querySelector?.("details");
    if (fold) fold.open = !fold.open;
    return Boolean(fold);
  },
  ArrowDown: () => entry(1),
  ArrowUp: () => entry(-1),
};

function openSide(field) {
  $("side").classList.add("open");
  return field;
}

function neighbour(way) {
  const links = [...document.querySelectorAll("#sessions li:not([hidden]) a")];
  const here = links.findIndex((each) => each.getAttribute("aria-current"));
  const next = links[here < 0 ? 0 : here + way];
  if (next) location.assign(next.href);
}

// Moves between entries if one has the focus; otherwise the arrow keys scroll.
function entry(way) {
  const here = document.activeElement.closest?.("#log .entry");
  if (!here || here !== document.activeElement) return false;
  const all = [...document.querySelectorAll("#log .entry")].filter((each) => !each.matches(".is-turn-started") && each.offsetParent);
  const next = all[all.indexOf(here) + way];
  if (!next) return false;
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function help() {
  const dialog = $("help");
  if (!dialog.childElementCount) {
    const groups = LISTED.map(([title, rows]) =>
      make("section", {}, make("h2", {}, title), make("dl", {}, ...rows.map(([key, what]) => make("div", {}, make("dt", {}, make("kbd", {}, key)), make("dd", {}, what))))),
    );
    const close = make("button", { type: "button", class: "button" }, "Close");
    close.addEventListener("click", () => dialog.close());
    dialog.append(...groups, close);
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }
  if (dialog.open) dialog.close();
  else dialog.showModal();
}
