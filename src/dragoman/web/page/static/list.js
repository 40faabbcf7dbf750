// The stream of all sessions. One tab has it and tells the others: a browser has six connections to a
// server, and every tab on a session needs one for that.
import { sessions } from "./api.js";
import { Stream, whileSeen } from "./stream.js";

const NAME = "dragoman-sessions";

// `tell` gets each event, `show` what is known of the connection.
export function follow(tell, show) {
  const others = new BroadcastChannel(NAME);
  const live = new Map();
  let saved = null; // the newest, once the server has told of them
  let state = "";
  let stream = null;
  let leave = () => {};

  const note = {
    sessions: (said) => (live.clear(), said.forEach((each) => live.set(each.id, each))),
    session: (said) => live.set(said.id, said),
    saved_sessions: (said) => (saved = { are_all: said.are_all, by: new Map(said.sessions.map((each) => [each.id, each])) }),
    saved_session: (said) => saved?.by.set(said.id, said),
    saved_gone: (said) => saved?.by.delete(said.id),
  };
  const take = (kind, said) => {
    if (kind === "state") return show((state = said));
    note[kind](said);
    tell(kind, said);
  };
  const pass = (kind, said) => {
    take(kind, said);
    others.postMessage({ kind, said });
  };
  others.onmessage = ({ data: { kind, said } }) => {
    if (kind !== "hello") take(kind, said);
    else if (stream && state === "live") {
      others.postMessage({ kind: "state", said: state });
      others.postMessage({ kind: "sessions", said: [...live.values()] });
      if (saved) others.postMessage({ kind: "saved_sessions", said: { are_all: saved.are_all, sessions: [...saved.by.values()] } });
    }
  };

  const lead = () => {
    stream = new Stream(sessions, Object.keys(note));
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
