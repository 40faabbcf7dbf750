// DOM helpers, announcements for screen readers, and toasts.

import { ask } from "./key.js";

export const $ = (id) => document.getElementById(id);

export const STATES = { working: "working", waiting: "waiting for you", done: "done", failed: "failed", idle: "idle" };

export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children); // strings become text nodes, never markup
  return element;
}

// Parses HTML from our own server. A template runs no scripts, and the page's content security policy forbids
// inline scripts and handlers as well.
export function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

// Replaces a part of this page with the server's current version; returns whether that worked.
export async function renew(id) {
  const response = await ask(location.href).catch(() => null);
  if (!response?.ok) return false;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById(id);
  const old = $(id);
  if (!fresh || !old || old.contains(document.activeElement)) return false;
  old.replaceWith(document.adoptNode(fresh));
  document.dispatchEvent(new CustomEvent("drawn"));
  return true;
}

let last = "";
export function tell(words, { urgent = false } = {}) {
  const region = $(urgent ? "urgent" : "polite");
  if (!region) return;
  region.textContent = words === last ? `${words}\u00a0` : words; // so that screen readers announce the same text again
  last = words;
}

export function toast(words, kind = "info") {
  const box = make("div", { class: `toast ${kind}` }, words);
  $("toasts").append(box);
  tell(words, { urgent: kind === "error" });
  setTimeout(() => box.remove(), kind === "error" ? 8000 : Math.max(2500, words.length * 90));
}

export async function copy(text, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
    toast(what);
  } catch {
    toast("The browser does not allow copying here.", "error");
  }
}

// Removes control characters and bidirectional overrides. The server has already cleaned its HTML.
export const clean = (text) =>
  text
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-_]/g, "")
    .replace(/\r\n?/g, "\n")
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, "\u00b7");
