// A server-sent event stream that reconnects. Losing the connection is the normal case.
import { $ } from "./dom.js";
import { ask } from "./key.js";

const HIDDEN = 30_000; // a hidden tab closes its connection, because browsers allow six

export class Stream {
  heard = () => {};
  opened = () => {};
  shown = show;

  constructor(address, kinds) {
    this.address = address;
    this.kinds = kinds;
    this.tries = 0;
  }

  open() {
    this.again = () => this.#again(0);
    this.lost = () => this.shown("offline");
    addEventListener("online", this.again);
    addEventListener("offline", this.lost);
    this.#connect();
  }

  close() {
    removeEventListener("online", this.again);
    removeEventListener("offline", this.lost);
    clearTimeout(this.timer);
    this.source?.abort();
    this.source = null;
  }

  // Not an EventSource, which cannot send the key.
  async #connect() {
    this.source?.abort();
    clearTimeout(this.timer);
    const source = (this.source = new AbortController());
    const isOurs = () => this.source === source;
    try {
      const response = await ask(this.address(), { signal: source.signal, cache: "no-store" });
      if (response.status === 401 && isOurs()) return location.reload();
      if (response.status === 200) {
        this.tries = 0;
        this.shown("live");
        this.opened();
        await each(response.body, (kind, data) => isOurs() && this.kinds.includes(kind) && this.#hear(kind, data));
      }
    } catch (error) {
      if (!isOurs()) return; // closed by us
      if (!(error instanceof TypeError || error instanceof DOMException)) reportError(error); // these mean that the connection broke
    }
    if (!isOurs()) return;
    this.shown("reconnecting");
    this.#again();
  }

  #hear(kind, data) {
    let said = null;
    try {
      said = JSON.parse(data);
    } catch {
      return; // drop an incomplete event; its content is loaded after reconnecting
    }
    this.heard(kind, said);
  }

  #again(wait = Math.min(15_000, 500 * 2 ** this.tries++)) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#connect(), wait);
  }
}

// Yields the events of a body: lines, ended by an empty line.
async function each(body, act) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let pieces = []; // parts of an incomplete line, which may arrive in many chunks
  let kind = "message";
  let data = [];
  const take = (line) => {
    if (line === "") {
      if (data.length) act(kind, data.join("\n"));
      kind = "message";
      data = [];
    } else if (line.startsWith("event:")) kind = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
  };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = value.split("\n");
    pieces.push(lines.shift());
    if (!lines.length) continue;
    take(pieces.join(""));
    pieces = [lines.pop()];
    for (const line of lines) take(line);
  }
}

// Runs while the tab is visible; ends when it has been hidden for a while.
export function whileSeen(begin, end) {
  let isOn = false;
  let timer = 0;
  const turn = (on) => {
    if (on !== isOn) (isOn = on) ? begin() : end();
  };
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => turn(false), HIDDEN);
    else turn(true);
  });
  turn(true);
}

export function show(state) {
  const shown = $("connection");
  if (!shown || shown.dataset.state === state) return;
  shown.dataset.state = state;
  shown.textContent = { live: "", reconnecting: "Reconnecting …", offline: "Offline" }[state];
}
