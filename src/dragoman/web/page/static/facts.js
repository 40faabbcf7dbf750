// The sidebar of a session: state, context, rate limits, plan and turns.
import { $, STATES, make, tell } from "./dom.js";
import { eachSecond, paint, span } from "./clocks.js";

const count = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export class Facts {
  changed = () => {};

  constructor(head) {
    this.head = head;
    this.now = head.dataset.state;
    this.changes = 0;
    this.newest = {}; // the number of the newest entry for each fact
    this.cards = new Set();
    eachSecond(() => this.#tick());
  }

  get isBusy() {
    return this.now === "working" || this.now === "waiting";
  }

  state(state) {
    if (state === this.now || !(state in STATES)) return;
    this.now = this.head.dataset.state = state;
    this.changes += 1;
    const pill = $("state");
    pill.className = `pill ${state}`;
    pill.textContent = STATES[state];
    this.changed(state);
  }

  take(entry, isNew) {
    const { kind, seq, agent } = entry.dataset;
    if (agent || Number(seq) < (this.newest[kind] ?? 0)) return;
    this.newest[kind] = Number(seq);
    if (kind === "usage") this.#usage(entry.dataset);
    else if (kind === "rate_limits") this.limits([...entry.querySelectorAll("data")].map(({ dataset: { name, percent, resets } }) => ({ name, used_percent: percent, resets_at: resets })));
    else if (kind === "prompt") this.#turn(entry);
    else if (kind === "turn_ended") this.#ended(entry, isNew);
    else if (kind === "turn_started") {
      this.begun = seq;
      if (isNew) this.state("working");
    }
    else if (kind === "text" && isNew) tell(entry.querySelector(".prose, .plain")?.textContent.slice(0, 300) ?? "");
    else if (kind === "notice" && isNew) tell(entry.textContent);
    const plan = entry.querySelector(".plan ol");
    if (plan && Number(seq) >= (this.newest.steps ?? 0)) {
      this.newest.steps = Number(seq);
      $("plan").replaceChildren(plan.cloneNode(true));
      $("plan").className = "plan";
      $("plan-part").hidden = false;
    }
  }

  #usage({ in: given, cached, out, context, window }) {
    if (context && window) {
      const percent = Math.min(100, (100 * Number(context)) / Number(window));
      $("context").value = percent;
      $("context").classList.toggle("full", percent > 80);
      $("context-words").textContent = `${percent.toFixed(0)} % of ${count.format(Number(window))} tokens`;
    } else if (context) $("context-words").textContent = `${count.format(Number(context))} tokens`;
    if (!given) return;
    const rows = [["Input", given], ["Cached", cached], ["Output", out]];
    $("tokens").replaceChildren(...rows.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, count.format(Number(value))))));
  }

  // The account's rate limits, from the session's file or from the agent.
  limits(windows = []) {
    const rows = windows.map(({ name, used_percent: percent, resets_at: resets }) => {
      const words = percent == null ? "not reported" : `${Math.round(percent)} % used`;
      const bar = make("progress", { max: 100, value: percent ?? 0, class: percent > 80 ? "full" : null, "aria-label": `${name}: ${words}` });
      const until = resets ? make("time", { class: "until", datetime: resets }) : "";
      return make("div", { class: "window" }, make("span", { class: "name" }, name), bar, make("span", { class: "sub" }, words, until ? " · " : "", until));
    });
    if (!rows.length) return;
    $("limits").replaceChildren(...rows);
    paint($("limits"));
  }

  // A turn is named after its first prompt; later ones steer it.
  #turn(entry) {
    const list = $("turns");
    const last = list.lastElementChild;
    if (last?.dataset.unnamed && last.dataset.seq === this.begun) {
      // The page was rendered after the start of the turn but before its prompt.
      delete last.dataset.unnamed;
      last.firstElementChild.textContent = entry.dataset.title || "Turn";
      return;
    }
    if (!this.begun || Number(last?.dataset.seq ?? 0) >= Number(this.begun)) return;
    const number = Number(last?.dataset.number ?? 0) + 1;
    list.append(make("li", { class: "open", "data-seq": this.begun, "data-number": number }, make("a", { href: `#e${this.begun}` }, entry.dataset.title || "Turn")));
    $("turns-part").hidden = false;
    list.scrollTop = list.scrollHeight;
  }

  #ended(entry, isNew) {
    const { outcome, seq } = entry.dataset;
    const turn = [...$("turns").children].reverse().find((each) => Number(each.dataset.seq) < Number(seq));
    if (turn) turn.className = outcome;
    if (!isNew) return;
    this.state({ failed: "failed", interrupted: "idle" }[outcome] ?? "done");
    tell(`The turn has ended: ${outcome}`);
  }

  // Calls without a result are running if the session is; otherwise their outcome is unknown.
  running(log) {
    this.cards = new Set(log.querySelectorAll(".entry > .use.open"));
    this.#tick();
  }

  #tick() {
    const last = [...this.cards].at(-1);
    for (const card of this.cards) {
      const shown = card.isConnected && card.classList.contains("open") ? card.querySelector(".facts .exit") : null;
      if (!shown) {
        this.cards.delete(card);
        continue;
      }
      card.classList.toggle("running", this.isBusy);
      const at = Date.parse(card.parentElement.dataset.at ?? "");
      const words = at ? `running ${span((Date.now() - at) / 1000)}` : "running";
      shown.textContent = !this.isBusy ? "no result" : this.now === "waiting" && card === last ? "waits for you" : words;
    }
  }
}
