// The conversation: a window of the session's entries. Scrolling extends it at both ends, and drops what is
// far away. An entry in the window is never loaded twice.
import { $, parsed, toast } from "./dom.js";
import * as api from "./api.js";
import { paint } from "./clocks.js";
import { Places } from "./place.js";

const PAGE = 150;
const MOST = 900; // the most entries in the document
const NEAR = 1500; // load more at this distance from an end, in pixels

export class Log {
  seen = () => {};
  written = () => {};

  constructor(id, scroller, list, last, hasEarlier) {
    this.id = id;
    this.scroller = scroller;
    this.list = list;
    this.last = last; // the newest entry in the window: the cursor
    this.hasEarlier = hasEarlier;
    this.isAtTail = true;
    this.first = last + 1;
    this.places = new Places(list);
    this.busy = Promise.resolve();
    this.isPaging = false;
    this.isWanted = false;
  }

  open() {
    const given = [...this.list.children];
    this.list.replaceChildren();
    if (given.length) this.first = Number(given[0].dataset.seq);
    this.#write(given, false);
    this.toBottom();
    this.scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    $("newest").addEventListener("click", () => this.newest());
    addEventListener("hashchange", () => this.#toHash());
    this.#toHash();
    // Heights are estimates until the first paint: stay at the end until then.
    const bottom = new ResizeObserver(() => this.stuck && this.toBottom());
    bottom.observe(this.list);
    bottom.observe(this.scroller);
    requestAnimationFrame(() => this.#scrolled());
  }

  // New entries exist. Calls during a load are combined into one more load.
  ring() {
    if (!this.isAtTail) {
      this.#button(true);
      return this.busy;
    }
    if (this.isWanted) return this.busy;
    this.isWanted = true;
    return this.#queue(async () => {
      this.isWanted = false;
      // The user may have scrolled away while this was queued.
      while (this.isAtTail) {
        const found = await api.fragments(this.id, { after: this.last, limit: PAGE });
        if (!found.length) return;
        this.#append(found);
        if (found.length < PAGE) return;
      }
    });
  }

  #queue(act) {
    this.busy = this.busy.then(act).catch((error) => {
      if (!(error instanceof api.Refused)) reportError(error); // the stream reports a broken connection
    });
    return this.busy;
  }

  #append(found) {
    const stick = this.isAtBottom();
    this.last = found.at(-1).seq;
    this.#write(this.#entries(found), true);
    if (stick) {
      this.#prune("top");
      this.toBottom();
    } else if (this.list.children.length > 2 * MOST) {
      this.isAtTail = false; // the user reads far above: load the rest on demand
    }
    this.#button(!stick);
  }

  #entries(found) {
    return found.flatMap((each) => (each.html ? [...parsed(each.html).children] : []));
  }

  #write(entries, isNew) {
    for (const entry of entries) {
      this.seen(entry, isNew);
      this.places.append(entry);
    }
    paint(this.list);
    this.written();
  }

  async older() {
    if (this.isPaging || !this.hasEarlier) return;
    this.isPaging = true;
    await this.#queue(async () => {
      const found = await api.fragments(this.id, { before: this.first, limit: PAGE });
      if (!found.length) {
        this.hasEarlier = false;
        $("earlier").hidden = true;
        return;
      }
      this.first = found[0].seq;
      this.#keepingPlace(() => {
        const entries = this.#entries(found);
        for (const entry of entries) this.seen(entry, false);
        this.places.prepend(entries);
        if (found.length < PAGE) {
          this.hasEarlier = false;
          $("earlier").hidden = true;
        }
      });
      this.#prune("bottom");
      paint(this.list);
    });
    this.#paged();
  }

  async newer() {
    if (this.isPaging || this.isAtTail) return;
    this.isPaging = true;
    await this.#queue(async () => {
      const found = await api.fragments(this.id, { after: this.last, limit: PAGE });
      if (found.length) {
        this.last = found.at(-1).seq;
        this.#write(this.#entries(found), false);
        this.#keepingPlace(() => this.#prune("top"));
      }
      if (found.length < PAGE) {
        this.isAtTail = true;
        this.#button(false);
      }
    });
    this.#paged();
  }

  // At the end, no scroll event will follow to load the next page.
  #paged() {
    this.isPaging = false;
    requestAnimationFrame(() => this.#scrolled());
  }

  // Shows the entry with this number.
  async jump(seq) {
    if (seq < this.first || seq > this.last) {
      await this.#queue(async () => {
        const found = await api.fragments(this.id, { after: seq > 0 ? Math.max(0, seq - 20) : seq - 20, limit: PAGE });
        if (!found.length) return;
        this.list.replaceChildren();
        [this.first, this.last] = [found[0].seq, found.at(-1).seq];
        this.hasEarlier = true; // assumed until the user scrolls there
        $("earlier").hidden = false;
        this.isAtTail = found.length < PAGE;
        this.#write(this.#entries(found), false);
      });
    }
    const target = this.#holding(seq);
    if (!target) return;
    this.stuck = false;
    for (let up = target.parentElement; up !== this.list && up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    target.scrollIntoView({ block: "start" });
    // Content above gets its real height only when near, so scroll again.
    requestAnimationFrame(() => requestAnimationFrame(() => target.scrollIntoView({ block: "start" })));
    focusOn(target.closest(".entry") ?? target);
  }

  // The element that shows an entry: a result is in the card of its call.
  #holding(seq) {
    const own = document.getElementById(`e${seq}`);
    if (own) return own;
    let found = this.list.querySelector(".entry");
    for (const each of this.list.querySelectorAll(".entry")) if (Number(each.dataset.seq) <= seq) found = each;
    return found;
  }

  async newest() {
    if (!this.isAtTail) {
      await this.#queue(async () => {
        const found = await api.fragments(this.id, { before: Number.MAX_SAFE_INTEGER, limit: PAGE });
        this.list.replaceChildren();
        [this.first, this.last] = [found[0]?.seq ?? 1, found.at(-1)?.seq ?? this.last];
        this.hasEarlier = true;
        $("earlier").hidden = false;
        this.isAtTail = true;
        this.#write(this.#entries(found), false);
      });
    }
    this.toBottom();
    this.#button(false);
  }

  isAtBottom() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    return this.isAtTail && (this.stuck || scrollHeight - scrollTop - clientHeight < 60);
  }

  toBottom() {
    this.stuck = true;
    this.at = this.scroller.scrollTop = this.scroller.scrollHeight;
    this.at = this.scroller.scrollTop;
  }

  async #toHash() {
    const entry = /^#e(-?\d+)$/.exec(location.hash);
    const turn = /^#t(\d+)$/.exec(location.hash); // search results link to turns
    if (entry) this.jump(Number(entry[1]));
    if (!turn) return;
    // The sidebar lists the newest turns; the server knows all.
    const listed = document.querySelector(`#turns [data-number="${turn[1]}"]`);
    const found = listed ? listed.dataset : await api.findTurn(this.id, turn[1]).catch(() => null);
    if (found) this.jump(Number(found.seq));
    else toast(`This session has no turn ${turn[1]}.`, "error");
  }

  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    const below = scrollHeight - scrollTop - clientHeight;
    if (scrollTop < (this.at ?? 0) - 4) this.stuck = false; // the user scrolled up
    if (below < 30 && this.isAtTail) this.stuck = true;
    this.at = scrollTop;
    if (scrollTop < NEAR) this.older();
    if (below < NEAR) this.newer();
    this.#button(!this.isAtTail || below > clientHeight);
  }

  #button(is) {
    $("newest").hidden = !is;
  }

  // Changes the list while keeping the visible part in place.
  #keepingPlace(act) {
    const top = this.scroller.getBoundingClientRect().top;
    const entries = [...this.list.children];
    const kept = entries.find((each) => each.getBoundingClientRect().bottom > top);
    const before = kept?.getBoundingClientRect().top;
    this.scroller.classList.add("moving"); // disables the browser's own scroll anchoring
    act();
    if (kept?.isConnected) this.scroller.scrollTop += kept.getBoundingClientRect().top - before;
    this.at = this.scroller.scrollTop;
    requestAnimationFrame(() => this.scroller.classList.remove("moving"));
  }

  #prune(end) {
    const beyond = this.list.children.length - MOST;
    if (beyond <= 0) return;
    const all = [...this.list.children];
    const gone = end === "top" ? all.slice(0, beyond) : all.slice(-beyond);
    if (gone.some((each) => each.contains(document.activeElement))) return; // never remove the focused element
    for (const each of gone) each.remove();
    if (end === "top") {
      this.first = seqOf(this.list.firstElementChild);
      this.hasEarlier = true;
      $("earlier").hidden = false;
    } else {
      this.last = seqOf(this.list.lastElementChild);
      this.isAtTail = false;
    }
  }
}

const seqOf = (element) => Number(element.dataset.seq ?? element.querySelector("[data-seq]")?.dataset.seq);

export function focusOn(element) {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
}
