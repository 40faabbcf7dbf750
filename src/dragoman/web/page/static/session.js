// One session: its pieces joined. The stream only rings the bell; what is shown always comes from
// the store, from the cursor on, so that reload, gap, restart and a second tab are all the same case.
import { $, toast } from "./say.js";
import * as api from "./api.js";
import { Log } from "./log.js";
import { Live } from "./live.js";
import { Facts } from "./facts.js";
import { Dock } from "./ask.js";
import { Composer } from "./composer.js";
import { Stream, whileSeen } from "./stream.js";
import { titleOf, whenTold } from "./sessions.js";
import { entitle, tools } from "./tools.js";
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
  log.written = () => {
    facts.running($("log"));
    live.carded($("log"));
  };
  log.open();
  dock.open();
  composer.open();
  tools(id, log);

  const stream = new Stream(() => api.stream(id, log.last), ["entry", "delta", "gap"]);
  stream.heard = (kind, said) => {
    if (kind === "gap") live.clear();
    if (kind !== "delta") return log.ring();
    if (!log.isAtTail) return;
    const stick = log.isAtBottom();
    live.hear(said.message ?? said, $("log"));
    if (stick) log.toBottom();
  };
  stream.opened = async () => {
    await log.ring();
    dock.check();
    const before = facts.changes;
    const known = await api.session(id).catch(() => null);
    // What has been heard meanwhile is newer than this answer.
    if (known && facts.changes === before) facts.state(known.state);
  };
  if (isLive) whileSeen(() => stream.open(), () => stream.close());
  else if (facts.isBusy) setInterval(() => document.hidden || log.ring(), 3000); // someone else drives it

  let newest = null;
  whenTold(async (told) => {
    const now = told.find((each) => each.id === id);
    if (!now || !isLive) return;
    newest = now;
    entitle(titleOf(now));
    composer.told(now);
    facts.limits(now.rate_limits);
    await log.ring(); // what was said comes first
    // Entries that came after this news know better.
    if (newest === now && now.last_seq >= log.last) facts.state(now.state);
  });

  facts.changed = (state) => {
    composer.state(state);
    if (state !== "working" && state !== "waiting") live.clear();
    if (state !== "waiting") dock.check();
  };
  composer.failed = (words) => toast(words, "error");
  window.addEventListener("online", () => log.ring());
}
