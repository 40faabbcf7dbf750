// A stream of the server's, and what is known of the connection. Losing it is the normal case.
import { $ } from "./say.js";

const HIDDEN = 30_000; // a tab nobody looks at gives its connection back: browsers have six

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
    this.source?.close();
    this.source = null;
  }

  #connect() {
    this.source?.close();
    clearTimeout(this.timer);
    const source = (this.source = new EventSource(this.address()));
    source.onopen = () => {
      this.tries = 0;
      this.shown("live");
      this.opened();
    };
    source.onerror = () => {
      this.shown("reconnecting");
      if (source.readyState === EventSource.CLOSED) this.#again();
    };
    for (const kind of this.kinds) source.addEventListener(kind, (event) => this.#hear(kind, event));
  }

  #hear(kind, event) {
    let said = null;
    try {
      said = JSON.parse(event.data);
    } catch {
      return; // a piece of an event is none; what it told is asked for when the stream is there again
    }
    this.heard(kind, said);
  }

  #again(wait = Math.min(15_000, 500 * 2 ** this.tries++)) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#connect(), wait);
  }
}

// Begin while somebody looks at this tab; end when nobody has for a while.
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
