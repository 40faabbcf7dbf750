// The entry point: sets up what all pages share, and then the current page.
import { enter, leave, takeToken } from "./enter.js";
import { sidebar } from "./sessions.js";
import { keys } from "./keys.js";
import { clocks } from "./clocks.js";
import { downloads } from "./download.js";

const parts = {
  index: () => import("./start.js"),
  session: () => import("./session.js"),
  history: () => import("./history.js"),
  policy: () => import("./policy.js"),
};

if (document.body.dataset.page === "login") await enter((name) => parts[name]?.());
takeToken(); // the token must not stay visible in the address bar
addEventListener("hashchange", takeToken);
document.getElementById("logout").addEventListener("click", leave);
sidebar();
clocks();
keys();
downloads();
const part = await parts[document.body.dataset.page]?.();
part?.begin();
document.body.dataset.ready = "";
