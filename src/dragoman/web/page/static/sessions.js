// The session list in the sidebar: rendered by the server, updated by the stream of all sessions, filtered while
// the user types.
import { $, STATES, clean, make, tell } from "./dom.js";
import { follow } from "./list.js";
import { paint } from "./clocks.js";
import { show } from "./stream.js";

const own = () => $("head")?.dataset.session;
const hearers = [];
const newest = new Map();

// Other parts of the page subscribe to changes here, and also get earlier ones.
export function whenTold(hear) {
  hearers.push(hear);
  if (newest.size) hear([...newest.values()]);
}

// `sessions` holds all live sessions, `session` one of them; the other events are about saved sessions.
const TOLD = {
  sessions: (said) => (newest.clear(), said),
  session: (said) => [said],
  saved_sessions: (said) => (dropMissing(said), said.sessions.filter(isSaved).map(asListed)),
  saved_session: (said) => [said].filter(isSaved).map(asListed),
  saved_gone: (said) => (isSaved(said) && drop(itemOf(said.id)), []),
};

function take(kind, said) {
  const told = TOLD[kind](said);
  for (const session of told) newest.set(session.id, session);
  for (const session of told) put(session);
  paint($("sessions"));
  filter();
  badge();
  for (const hear of hearers) hear(told);
}

// Like the server, list an idle saved session as done.
const asListed = (session) => (session.state === "idle" ? { ...session, state: "done" } : session);

// Live sessions were received before, and take precedence.
const isSaved = ({ id }) => newest.get(id)?.is_live === false || !newest.has(id);

const itemOf = (id) => $("sessions").querySelector(`[data-session="${CSS.escape(id)}"]`);

// Remove saved sessions that are missing among the newest: they were deleted.
function dropMissing({ sessions, are_all }) {
  const there = new Set(sessions.map((each) => each.id));
  const since = are_all ? 0 : Date.parse(sessions.at(-1)?.updated_at ?? "") || Infinity;
  for (const item of [...$("sessions").children]) {
    const { session: id } = item.dataset;
    if (isSaved({ id }) && id !== own() && !there.has(id) && time(item) >= since) drop(item);
  }
}

// Move the keyboard focus to the next session.
function drop(item) {
  if (!item) return;
  const next = item.nextElementSibling ?? item.previousElementSibling;
  const hadFocus = item.contains(document.activeElement);
  item.remove();
  if (hadFocus) (next?.firstElementChild ?? $("search")).focus();
}

function put(session) {
  const list = $("sessions");
  const known = itemOf(session.id);
  if (session.archived && session.id !== own()) return drop(known);
  const item = drawn(session);
  if (session.id === own() && session.is_live === false) import("./tools.js").then(({ entitle }) => entitle(titleOf(session)));
  if (session.state === "waiting" && known?.dataset.state !== "waiting" && session.id !== own()) tell(`${titleOf(session)} waits for you`);
  if (known && same(known, item)) return;
  const hadFocus = known?.contains(document.activeElement);
  // Move an entry only when its state changes, or two active sessions would swap places all the time. A saved
  // session may have been active while the page was closed.
  const isNewer = session.is_live === false && session.state !== "working" && known && time(item) > time(known);
  if (known?.dataset.state === session.state && !isNewer) known.replaceWith(item);
  else {
    known?.remove();
    list.insertBefore(item, [...list.children].find((each) => isBefore(item, each)) ?? null);
  }
  if (hadFocus) item.firstElementChild.focus();
}

// The same markup that the server renders.
function drawn({ id, title, state, cwd, updated_at }) {
  const address = `/s/${encodeURIComponent(id)}`;
  const words = STATES[state] ?? state;
  const folder = cwd?.split("/").filter(Boolean).at(-1) ?? cwd;
  const sub = make("span", { class: "sub" });
  if (cwd) sub.append(make("span", { class: "folder", title: clean(cwd) }, clean(folder)), " ");
  if (updated_at) sub.append(make("time", { class: "since", datetime: updated_at }));
  const dot = make("span", { class: `dot ${state}` }, make("span", { class: "aside-word" }, words));
  const link = make("a", { href: address, "aria-current": id === own() ? "page" : null }, dot, make("span", { class: "title" }, titleOf({ id, title })), sub);
  return make("li", { class: `is-${state}`, "data-session": id, "data-state": state }, link);
}

export function titleOf({ id, title }) {
  const letters = [...clean(title ?? "").split(/\s+/).filter(Boolean).join(" ")];
  return (letters.length > 100 ? `${letters.slice(0, 99).join("")}…` : letters.join("")) || `Session ${id.slice(0, 8)}`;
}

const time = (item) => Date.parse(item.querySelector("time")?.dateTime ?? "") || 0;

// Waiting sessions first, then the newest.
const isBefore = (a, b) => {
  const [first, second] = [a, b].map((each) => each.dataset.state === "waiting");
  return first === second ? time(a) > time(b) : first;
};

const same = (a, b) =>
  a.dataset.state === b.dataset.state && a.querySelector(".title").textContent === b.querySelector(".title").textContent && time(a) === time(b);

// The tab's title shows how many sessions wait, for users in other tabs.
function badge() {
  const count = $("sessions").querySelectorAll("[data-state=waiting]").length;
  document.title = document.title.replace(/^(\(\d+\) )?/, count ? `(${count}) ` : "");
  const icon = document.querySelector("link[rel=icon]");
  const wanted = count ? "/static/icon-waiting.svg" : "/static/icon.svg";
  if (icon.getAttribute("href") !== wanted) icon.setAttribute("href", wanted);
}

function filter() {
  const words = $("search").value.trim().toLowerCase();
  for (const item of $("sessions").children) item.hidden = words !== "" && !item.textContent.toLowerCase().includes(words);
  $("none").hidden = [...$("sessions").children].some((item) => !item.hidden);
  $("none").textContent = words ? "No match. Enter searches the messages." : "No sessions yet.";
}

export function sidebar() {
  const side = $("side");
  const menu = $("menu");
  const open = (is) => {
    side.classList.toggle("open", is);
    menu.setAttribute("aria-expanded", String(is));
  };
  menu.addEventListener("click", () => open(!side.classList.contains("open")));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && side.classList.contains("open")) {
      open(false);
      menu.focus();
      event.stopImmediatePropagation();
    }
  }, true);
  $("main").addEventListener("click", () => open(false));
  $("search").addEventListener("input", filter);
  $("sessions").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  filter();
  badge();
  // On a session's page, its own stream reports the connection.
  follow(take, own() ? () => {} : show);
}
