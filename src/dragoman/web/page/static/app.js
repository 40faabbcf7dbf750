// Where the page begins: what every page has, and then what this one has.
import { takeToken, login } from "./api.js";
import { sidebar } from "./sessions.js";
import { keys } from "./keys.js";
import { clocks } from "./clocks.js";

const page = document.body.dataset.page;
const parts = {
  index: () => import("./start.js"),
  session: () => import("./session.js"),
  history: () => import("./history.js"),
  policy: () => import("./policy.js"),
};

if (page === "login") {
  login();
} else {
  takeToken(); // an address with a token that was opened again: never leave it in sight
  sidebar();
  clocks();
  keys();
  const part = await parts[page]?.();
  part?.begin();
  document.body.dataset.ready = "";
}
