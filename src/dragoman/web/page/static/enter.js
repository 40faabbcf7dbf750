// Signing in and out. With the cookie alone, the server sends an empty page with the login form; this script loads
// the real page with the key.
import { $ } from "./dom.js";
import { ask, forget, has, keep } from "./key.js";

// The token is in the URL's fragment, which browsers never send to servers.
export function takeToken() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return decodeURIComponent(found[1]);
}

// Resolves when the page has replaced the login form. `prepare` gets the page's name first, and loads its code: a button
// pressed without its code would submit the form natively.
export async function enter(prepare) {
  const token = takeToken();
  if (token) await signIn(token);
  while (!(await filled(prepare))) await asked();
}

// Loads the page and inserts it; returns whether that worked.
async function filled(prepare) {
  if (!has()) return false;
  const response = await ask(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!response) return problem("The server cannot be reached.");
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (!page.body.dataset.page) return problem("The server sent no page.");
  if (page.body.dataset.page === "login") return forget(), problem("Please sign in again.");
  await prepare(page.body.dataset.page);
  document.title = page.title;
  document.body.replaceWith(document.adoptNode(page.body));
  document.querySelector("[autofocus]")?.focus();
  return true;
}

// Shows the login form, and waits until the user has signed in.
function asked() {
  const form = $("login");
  form.hidden = false;
  form.elements.token.focus();
  return new Promise((done) => {
    const given = async (token) => {
      if (!token || !(await signIn(token))) return;
      removeEventListener("hashchange", changed);
      done();
    };
    // Opening the printed URL in this tab changes only the fragment.
    const changed = () => given(takeToken());
    addEventListener("hashchange", changed);
    form.onsubmit = (event) => {
      event.preventDefault();
      given(form.elements.token.value.trim());
    };
  });
}

async function signIn(token) {
  problem("");
  const response = await fetch("/api/v1/login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  }).catch(() => null);
  const answer = await response?.json().catch(() => null);
  if (response?.ok) keep(answer?.key ?? "");
  else problem(!response ? "The server cannot be reached." : response.status === 401 ? "Invalid token." : answer?.error?.message ?? "Refused.");
  return Boolean(response?.ok);
}

function problem(words) {
  $("problem").textContent = words;
  return false;
}

export async function leave() {
  await ask("/api/v1/logout", { method: "POST" }).catch(() => null);
  forget();
  location.assign("/");
}
