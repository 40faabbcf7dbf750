// The page of one session. The stream only signals news; entries are always loaded from the store, after the
// cursor, so that reload, gap, restart and a second tab are all the same case.
import { $, toast } from "./dom.js";
import * as api from "./api.js";
import { Log } from "./log.js";
import { Live } from "./live.js";
import { Facts } from "./facts.js";
import { Dock } from "./approvals.js";
import { Composer } from "./composer.js";
import { Stop } from "./stop.js";
import { Steered } from "./steered.js";
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
  const stop = new Stop(id, facts);
  const composer = new Composer(id, $("composer"), facts, stop);
  const steered = new Steered(id, $("steered"), composer);

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
  if (isLive) stop.open();
  tools(id, log, stop);

  const stream = new Stream(() => api.stream(id, log.last), ["entry", "delta", "partial", "gap", "end"]);
  stream.heard = (kind, said) => {
    if (kind === "end") return stream.ended();
    if (kind === "gap") live.clear();
    if (kind !== "delta" && kind !== "partial") return log.ring();
    if (!log.isAtTail) return;
    const stick = log.isAtBottom();
    if (kind === "partial") live.begin(said.message, $("log"));
    else live.hear(said.message ?? said, $("log"));
    if (stick) log.toBottom();
  };
  stream.opened = async () => {
    await log.ring();
    dock.check();
    const before = facts.changes;
    const known = await api.session(id).catch(() => null);
    if (known) steered.show(known.steered);
    // State from the stream is newer than this response.
    if (known && facts.changes === before) facts.state(known.state);
  };
  // Another program may be writing a saved session: follow it until the server ends the stream.
  let isFollowed = isLive || head.dataset.elsewhere === "true" || facts.isBusy;
  whileSeen(() => isFollowed && stream.open(), () => stream.close());
  stream.ended = () => {
    isFollowed = isLive;
    if (!isLive) stream.close();
  };
  const elsewhere = (now) => {
    const is = now.running_elsewhere === true;
    $("elsewhere").hidden = !is;
    $("composer").hidden = is || $("closed") !== null;
    if (is && !isFollowed) {
      isFollowed = true;
      stream.close();
      if (!document.hidden) stream.open();
    }
    facts.state(now.state);
  };

  let newest = null;
  whenTold(async (told) => {
    const now = told.find((each) => each.id === id);
    if (now && !isLive) return elsewhere(now);
    if (!now) return;
    newest = now;
    entitle(titleOf(now));
    composer.told(now);
    steered.show(now.steered);
    facts.limits(now.rate_limits);
    await log.ring(); // load the entries first
    // Entries that arrived later are more recent.
    if (newest === now && now.last_seq >= log.last) facts.state(now.state);
  });

  facts.changed = (state) => {
    composer.state(state);
    if (isLive) stop.look();
    if (state !== "working" && state !== "waiting") live.clear();
    if (state !== "waiting") dock.check();
  };
  composer.failed = (words) => toast(words, "error");
  window.addEventListener("online", () => log.ring());
}
