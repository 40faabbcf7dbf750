// The list of sessions beside the page: kept fresh, opened on a phone, filtered while one types.
import { $, tell } from "./say.js";
import { paint } from "./clocks.js";

const PERIOD = 4000;
let busy = false;

// The server draws the list; we ask for it again and put in what has changed, so that the focus and
// the place one has scrolled to stay where they are.
export async function refresh() {
  if (busy || document.hidden) return;
  busy = true;
  try {
    const response = await fetch("/", { credentials: "same-origin" });
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("sessions");
    if (fresh) put(fresh);
  } catch {
    return; // the state of the connection is shown elsewhere
  } finally {
    busy = false;
  }
}

function put(fresh) {
  const list = $("sessions");
  const old = new Map([...list.children].map((item) => [item.dataset.session, item]));
  const waiting = [];
  let place = list.firstElementChild;
  for (const item of [...fresh.children]) {
    const known = old.get(item.dataset.session);
    old.delete(item.dataset.session);
    if (item.dataset.state === "waiting" && known?.dataset.state !== "waiting") waiting.push(item);
    const current = known?.querySelector("a").getAttribute("aria-current");
    if (current) item.querySelector("a").setAttribute("aria-current", current);
    let shown = item;
    if (known && same(known, item)) shown = known;
    else if (known) {
      const focused = known.contains(document.activeElement);
      known.replaceWith(item);
      if (place === known) place = item;
      if (focused) item.querySelector("a").focus();
    }
    if (shown !== place) list.insertBefore(shown, place);
    else place = place.nextElementSibling;
  }
  for (const gone of old.values()) gone.remove();
  entitle(list);
  paint(list);
  filter();
  for (const item of waiting) {
    if (item.dataset.session !== $("head")?.dataset.session) tell(`${item.querySelector(".title").textContent} waits for you`);
  }
  const count = list.querySelectorAll("[data-state=waiting]").length;
  document.title = document.title.replace(/^(\(\d+\) )?/, count ? `(${count}) ` : "");
}

// A session gets its title after it has begun, or from another tab.
function entitle(list) {
  const own = list.querySelector(`[data-session="${CSS.escape($("head")?.dataset.session ?? "")}"] .title`);
  const title = $("title");
  if (!own || !title || own.textContent === title.textContent) return;
  document.title = document.title.replace(title.textContent, own.textContent);
  title.textContent = own.textContent;
}

const same = (a, b) =>
  a.dataset.state === b.dataset.state &&
  a.querySelector(".title").textContent === b.querySelector(".title").textContent &&
  a.querySelector("time")?.dateTime === b.querySelector("time")?.dateTime;

function filter() {
  const words = $("search").value.trim().toLowerCase();
  for (const item of $("sessions").children) item.hidden = words !== "" && !item.textContent.toLowerCase().includes(words);
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
  setInterval(refresh, PERIOD);
  document.addEventListener("visibilitychange", refresh);
}
