// Texts that change with time, such as "5 min ago", "resets in 2 h" and "running 12 s"; and the theme button.
import { $ } from "./dom.js";

export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s < 600 && s % 60 ? ` ${s % 60} s` : ""}`;
  if (s < 86400) return `${Math.floor(s / 3600)} h${s % 3600 >= 60 && s < 36000 ? ` ${Math.floor((s % 3600) / 60)} min` : ""}`;
  return `${Math.floor(s / 86400)} d`;
}

const round = (s) => (s < 3600 ? `${Math.max(1, Math.floor(s / 60))} min` : s < 86400 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400)} d`);

export function paint(root = document) {
  const now = Date.now();
  for (const time of root.querySelectorAll("time.since")) {
    const ago = (now - Date.parse(time.dateTime)) / 1000;
    time.title ||= new Date(time.dateTime).toLocaleString();
    time.textContent = ago < 45 ? "now" : ago < 6 * 86400 ? `${round(ago)} ago` : time.dateTime.slice(0, 10);
  }
  for (const time of root.querySelectorAll("time.until")) {
    const left = (Date.parse(time.dateTime) - now) / 1000;
    time.textContent = left > 0 ? `resets in ${span(left > 600 ? Math.floor(left / 60) * 60 : left)}` : "has been reset";
  }
  for (const time of root.querySelectorAll(".turn-head time:not([title])")) {
    time.title = time.textContent;
    time.textContent = new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }
}

const every = new Set();
export const eachSecond = (act) => every.add(act);

export function clocks() {
  paint();
  let count = 0;
  setInterval(() => {
    if (document.hidden) return;
    for (const act of every) act();
    if (++count % 15 === 0) paint();
  }, 1000);
  document.addEventListener("visibilitychange", () => document.hidden || paint());
  document.addEventListener("drawn", () => paint());
  const button = $("theme");
  const names = { "": "same as the system", light: "light", dark: "dark" };
  const show = () => {
    const theme = document.documentElement.dataset.theme ?? "";
    button.textContent = { "": "◐", light: "☀", dark: "☾" }[theme];
    button.setAttribute("aria-label", `Theme: ${names[theme]}`);
    button.title = button.getAttribute("aria-label");
  };
  button.addEventListener("click", () => {
    const next = { "": "light", light: "dark", dark: "" }[document.documentElement.dataset.theme ?? ""];
    if (next) document.documentElement.dataset.theme = next;
    else delete document.documentElement.dataset.theme;
    localStorage.setItem("dragoman-theme", next);
    show();
  });
  show();
}
