// The second secret of a login. Browsers send cookies to every port of this machine; this storage belongs to one
// origin, and only our own code sends what it holds.

const NAME = "dragoman-key";

export const keep = (key) => localStorage.setItem(NAME, key);
export const forget = () => localStorage.removeItem(NAME);
export const has = () => localStorage.getItem(NAME) !== null;

// fetch with the key of the login.
export function ask(address, options = {}) {
  const key = localStorage.getItem(NAME);
  const headers = key === null ? options.headers : { ...options.headers, "X-Dragoman-Key": key };
  return fetch(address, { credentials: "same-origin", ...options, headers });
}
