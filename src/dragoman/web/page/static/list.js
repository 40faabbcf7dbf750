// The stream of all sessions. One tab opens it and shares it with the others, because browsers allow six
// connections per server, and each tab with a session needs one.
import { sessions } from "./api.js";
import { Stream, whileSeen } from "./stream.js";

const NAME = "dragoman-sessions";

// `tell` gets each event, `show` the state of the connection.
export function follow(tell, show) {
  const others = new BroadcastChannel(NAME);
  const live = new Map();
  let saved = null; // the newest saved sessions, once received
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
    if (!navigator.locks) return lead(); // locks exist only in secure contexts
    const waiting = new AbortController();
    leave = () => waiting.abort();
    const held = () => new Promise((done) => {
      leave = done;
      lead();
    });
    navigator.locks.request(NAME, { signal: waiting.signal }, held).catch((error) => {
      if (error.name !== "AbortError") reportError(error); // aborted by us while waiting
    });
  };
  whileSeen(begin, () => {
    stream?.close();
    stream = null;
    leave();
  });
}
