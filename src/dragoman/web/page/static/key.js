// The second secret of a login. Cookies go to every port of this machine; this storage belongs to this address and
// port, and only our own code sends what is in it.

const NAME = "dragoman-key";

export const keep = (key) => localStorage.setItem(NAME, key);
export const forget = () => localStorage.removeItem(NAME);
export const has = () => localStorage.getItem(NAME) !== null;

// fetch, as the one who has signed in.
export function ask(address, options = {}) {
  const key = localStorage.getItem(NAME);
  const headers = key === null ? options.headers : { ...options.headers, "X-Dragoman-Key": key };
  return fetch(address, { credentials: "same-origin", ...options, headers });
}
