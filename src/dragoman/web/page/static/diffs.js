// Switches diffs between the server's unified form and two columns.
import { $, make, copy } from "./dom.js";

const KEY = "dragoman-split";
let isSplit = localStorage.getItem(KEY) === "1";

// Shows paths within the session's folder relative to it.
export function shorten(root) {
  const folder = `${$("head").dataset.cwd ?? ""}/`;
  for (const path of root.querySelectorAll(".diff .path")) {
    if (folder === "/" || !path.textContent.startsWith(folder)) continue;
    path.title = path.textContent;
    path.textContent = path.textContent.slice(folder.length);
  }
}

export function splitAll(root) {
  shorten(root);
  for (const diff of root.querySelectorAll("details.diff")) {
    tooled(diff);
    if (isSplit) show(diff, true);
  }
}

export function toggleAll() {
  isSplit = !isSplit;
  localStorage.setItem(KEY, isSplit ? "1" : "0");
  for (const diff of document.querySelectorAll("details.diff")) show(diff, isSplit);
  return isSplit;
}

function tooled(diff) {
  if (diff.querySelector(":scope > .diff-tools")) return;
  const both = make("button", { type: "button", "aria-pressed": String(isSplit) }, "Side by side");
  both.addEventListener("click", () => show(diff, both.getAttribute("aria-pressed") !== "true"));
  const take = make("button", { type: "button" }, "Copy");
  take.addEventListener("click", () => copy(diff.querySelector(".hunks").textContent, "Changes copied"));
  diff.querySelector("summary").after(make("div", { class: "diff-tools" }, both, take));
}

function show(diff, split) {
  const unified = diff.querySelector(":scope > .hunks");
  if (!unified) return;
  tooled(diff);
  diff.querySelector(".diff-tools button").setAttribute("aria-pressed", String(split));
  let columns = diff.querySelector(":scope > .split");
  if (split && !columns) unified.after((columns = sideBySide(unified)));
  unified.hidden = split;
  if (columns) columns.hidden = !split;
}

export function sideBySide(unified) {
  const table = make("div", { class: "split" });
  const lines = [...unified.children];
  for (let at = 0; at < lines.length; ) {
    const kind = lines[at].className;
    if (kind === "hunk") {
      table.append(make("div", { class: "row hunk" }, lines[at].textContent.trimEnd()));
      at += 1;
    } else if (kind === "same") {
      table.append(row(lines[at], lines[at]));
      at += 1;
    } else {
      const removed = run(lines, at, "del");
      const added = run(lines, at + removed.length, "add");
      for (let each = 0; each < Math.max(removed.length, added.length); each++) table.append(row(removed[each], added[each]));
      at += removed.length + added.length;
    }
  }
  return table;
}

function run(lines, at, kind) {
  let end = at;
  while (end < lines.length && lines[end].className === kind) end += 1;
  return lines.slice(at, end);
}

const row = (left, right) => make("div", { class: "row" }, cell(left, "o"), cell(right, "n"));

function cell(line, side) {
  if (!line) return make("span", { class: "none" });
  const made = make("span", { class: line.className, "data-no": line.dataset[side] ?? "" });
  made.append(...[...line.childNodes].map((node) => node.cloneNode(true)));
  // Drop the sign, the first character of the line: the column replaces it.
  let first = made.firstChild;
  while (first && first.nodeType !== Node.TEXT_NODE) first = first.firstChild;
  if (first && /^[-+ ]/.test(first.data)) first.data = first.data.slice(1);
  return made;
}
