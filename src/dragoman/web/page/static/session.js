// One session: its pieces joined. The stream only rings the bell; what is shown always comes from
// the store, from the cursor on, so that reload, gap, restart and a second tab are all the same case.
import { $, toast } from "./say.js";
import * as api from "./api.js";
import { Log } from "./log.js";
import { Live } from "./live.js";
import { Facts } from "./facts.js";
import { Dock } from "./ask.js";
import { Composer } from "./composer.js";
import { Stream } from "./stream.js";
import { tools } from "./tools.js";
import { splitAll } from "./diffs.js";

export function begin() {
  const head = $("head");
  const { session: id } = head.dataset;
  const isLive = head.dataset.live === "true";
  const facts = new Facts(head);
  const live = new Live($("live"));
  const log = new Log(id, $("scroller"), $("log"), Number(head.dataset.last), head.dataset.earlier === "true");
  const dock = new Dock(id, $("dock"), facts);
  const composer = new Composer(id, $("composer"), facts);

  log.seen = (entry, isNew) => {
    live.settle(entry, isNew);
    facts.take(entry, isNew);
    dock.take(entry, isNew);
    splitAll(entry);
  };
  log.written = () => facts.running($("log"));
  log.open();
  dock.open();
  composer.open();
  tools(id, log);

  const stream = new Stream(id, () => log.last);
  stream.bell = () => log.ring();
  stream.passing = (delta) => {
    if (!log.isAtTail) return;
    const stick = log.isAtBottom();
    live.hear(delta, $("log"));
    if (stick) log.toBottom();
  };
  stream.gap = () => {
    live.clear();
    log.ring();
  };
  stream.connected = async () => {
    await log.ring();
    dock.check();
    const before = facts.changes;
    const known = await api.session(id).catch(() => null);
    // What has been heard meanwhile is newer than this answer.
    if (known && facts.changes === before) facts.state(known.state);
  };
  if (isLive) stream.open();
  else if (facts.isBusy) setInterval(() => document.hidden || log.ring(), 3000); // someone else drives it

  facts.changed = (state) => {
    composer.state(state);
    if (state !== "working" && state !== "waiting") live.clear();
    if (state !== "waiting") dock.check();
  };
  composer.failed = (words) => toast(words, "error");
  window.addEventListener("online", () => log.ring());
}
