// Signing in and out. What the server sends to a browser that merely has the cookie is an empty page with the login: the
// page itself is asked for here, with the key.
import { $ } from "./dom.js";
import { ask, forget, has, keep } from "./key.js";

// The token stands behind the # so that no server and no log ever sees it in an address.
export function takeToken() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return decodeURIComponent(found[1]);
}

// Resolves when the page is there, in place of the login. `prepare` is given its name before it can be seen, and fetches
// what it needs: a button that is pressed before its code is there would send the form in the browser's own way.
export async function enter(prepare) {
  const token = takeToken();
  if (token) await signIn(token);
  while (!(await filled(prepare))) await asked();
}

// Whether the server gave us the page, and it was put in.
async function filled(prepare) {
  if (!has()) return false;
  const response = await ask(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!response) return problem("The server cannot be reached.");
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (!page.body.dataset.page) return problem("The server gave no page.");
  if (page.body.dataset.page === "login") return forget(), problem("Please sign in again.");
  await prepare(page.body.dataset.page);
  document.title = page.title;
  document.body.replaceWith(document.adoptNode(page.body));
  document.querySelector("[autofocus]")?.focus();
  return true;
}

// Wait until someone has signed in by hand.
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
    // The printed address, put in where this page is open already, changes nothing but what is behind the #.
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
  else problem(!response ? "The server cannot be reached." : response.status === 401 ? "This token does not fit." : answer?.error?.message ?? "Refused.");
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
