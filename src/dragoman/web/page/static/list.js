// The stream of all sessions. One tab has it and tells the others: a browser has six connections to a
// server, and every tab on a session needs one for that.
import { sessions } from "./api.js";
import { Stream, whileSeen } from "./stream.js";

const NAME = "dragoman-sessions";

// `tell` gets sessions as they now stand, `show` what is known of the connection.
export function follow(tell, show) {
  const others = new BroadcastChannel(NAME);
  const known = new Map();
  let state = "";
  let stream = null;
  let leave = () => {};

  const take = (kind, said) => {
    if (kind === "state") show((state = said));
    else for (const each of kind === "session" ? [said] : said) known.set(each.id, each);
    if (kind !== "state") tell(kind === "session" ? [said] : said);
  };
  const pass = (kind, said) => {
    take(kind, said);
    others.postMessage({ kind, said });
  };
  others.onmessage = ({ data: { kind, said } }) => {
    if (kind !== "hello") take(kind, said);
    else if (stream && state === "live") {
      others.postMessage({ kind: "state", said: state });
      others.postMessage({ kind: "sessions", said: [...known.values()] });
    }
  };

  const lead = () => {
    stream = new Stream(sessions, ["sessions", "session"]);
    stream.heard = pass;
    stream.shown = (said) => said !== state && pass("state", said);
    stream.open();
  };
  const begin = () => {
    others.postMessage({ kind: "hello" });
    if (!navigator.locks) return lead(); // they are there for pages that are safe from others, only
    const waiting = new AbortController();
    leave = () => waiting.abort();
    const held = () => new Promise((done) => {
      leave = done;
      lead();
    });
    navigator.locks.request(NAME, { signal: waiting.signal }, held).catch((error) => {
      if (error.name !== "AbortError") reportError(error); // that one is given up while it waits
    });
  };
  whileSeen(begin, () => {
    stream?.close();
    stream = null;
    leave();
  });
}
