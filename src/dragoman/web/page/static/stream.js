// The stream of a session, and what is known of the connection. Losing it is the normal case.
import { stream as address } from "./api.js";
import { $ } from "./say.js";

const HIDDEN = 30_000; // a tab nobody looks at gives its connection back: browsers have six

export class Stream {
  bell = () => {};
  passing = () => {};
  gap = () => {};
  connected = () => {};

  constructor(id, cursor) {
    this.id = id;
    this.cursor = cursor;
    this.tries = 0;
  }

  open() {
    document.addEventListener("visibilitychange", () => {
      clearTimeout(this.sleep);
      if (document.hidden) this.sleep = setTimeout(() => this.#close(), HIDDEN);
      else if (!this.source) this.#connect();
    });
    addEventListener("online", () => this.#again(0));
    addEventListener("offline", () => this.#show("offline"));
    this.#connect();
  }

  #connect() {
    this.#close();
    clearTimeout(this.timer);
    const source = (this.source = new EventSource(address(this.id, this.cursor())));
    source.onopen = () => {
      this.tries = 0;
      this.#show("live");
      this.connected();
    };
    source.onerror = () => {
      this.#show("reconnecting");
      if (source.readyState === EventSource.CLOSED) this.#again();
    };
    for (const kind of ["entry", "delta", "gap"]) source.addEventListener(kind, (event) => this.#hear(kind, event));
  }

  #hear(kind, event) {
    if (kind === "gap") return this.gap();
    let said = null;
    try {
      said = JSON.parse(event.data);
    } catch {
      return this.bell();
    }
    if (kind === "delta") this.passing(said.message ?? said);
    else this.bell();
  }

  #again(wait = Math.min(15_000, 500 * 2 ** this.tries++)) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#connect(), wait);
  }

  #close() {
    this.source?.close();
    this.source = null;
  }

  #show(state) {
    const shown = $("connection");
    const words = { live: "", reconnecting: "Reconnecting …", offline: "Offline" }[state];
    if (shown.dataset.state === state) return;
    shown.dataset.state = state;
    shown.textContent = words;
  }
}
