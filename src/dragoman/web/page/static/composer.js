// The message form: starts a turn when the agent is idle, and steers the running turn otherwise.
import { $ } from "./dom.js";
import * as api from "./api.js";

export class Composer {
  failed = () => {};

  constructor(id, form, facts, stop) {
    this.stop = stop;
    this.id = id;
    this.form = form;
    this.facts = facts;
    this.words = $("words");
    this.draft = `dragoman-draft-${id}`;
    this.canSteer = form.dataset.steer === "true";
    this.isLive = $("head").dataset.live === "true";
    this.access = form.elements.access.value; // that of the previous turn
  }

  open() {
    this.words.value = sessionStorage.getItem(this.draft) ?? "";
    this.words.addEventListener("input", () => {
      sessionStorage.setItem(this.draft, this.words.value); // survives a reload
      this.#grow();
    });
    this.words.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open], details.menu-holder[open]")) return;
      if (this.words === document.activeElement) this.words.blur();
      else if (this.facts.isBusy) this.stop.turn();
    });
    this.state(this.facts.now);
    this.#grow();
  }

  state(state) {
    const isBusy = state === "working" || state === "waiting";
    $("interrupt").hidden = !isBusy || !this.isLive;
    $("send").textContent = isBusy ? "Steer" : "Send";
    $("send").disabled = isBusy && !this.canSteer;
    this.words.placeholder = isBusy ? "Message the agent while it works" : this.isLive ? "Continue this session" : "Resume this session";
    $("hint").textContent = isBusy ? "Enter steers the turn" : "Enter sends, Shift+Enter starts a new line";
    const { model, access } = this.form.elements;
    model.disabled = access.disabled = isBusy; // they apply to a new turn only
  }

  // Another tab may have changed the access.
  told({ sandbox }) {
    if (!sandbox || sandbox === this.access) return;
    this.access = this.form.elements.access.value = sandbox;
  }

  async #send() {
    const text = this.words.value.trim();
    if (!text || this.isSending) return;
    this.isSending = true;
    this.form.classList.add("sending");
    try {
      if (this.facts.isBusy) await api.steer(this.id, text);
      else if (!this.isLive) await this.#resume(text);
      else {
        const { model, access } = this.form.elements;
        const given = { text };
        if (model.value !== "default") given.model = model.value;
        if (access.value !== this.access) given.access = access.value;
        await api.turn(this.id, given);
        this.#isBack();
        this.access = access.value;
        this.facts.state("working");
      }
      this.words.value = "";
      sessionStorage.removeItem(this.draft);
      this.#grow();
    } catch (error) {
      this.failed(error.message);
    } finally {
      this.isSending = false;
      this.form.classList.remove("sending");
      this.words.focus();
    }
  }

  // Puts back a message that the agent never read.
  giveBack(text) {
    this.words.value = this.words.value.trim() ? `${text}\n\n${this.words.value}` : text;
    sessionStorage.setItem(this.draft, this.words.value);
    this.#grow();
  }

  // A prompt unarchives an archived session.
  #isBack() {
    document.querySelector("[data-act=unarchive]")?.remove();
    $("archived")?.remove();
  }

  // A saved session is resumed as a new live session with its own id.
  async #resume(text) {
    const { model, access } = this.form.elements;
    const { cwd, harness } = $("head").dataset;
    const given = { resume: this.id, prompt: text, cwd };
    if (harness) given.harness = harness;
    if (access.value) given.access = access.value;
    if (model.value !== "default") given.model = model.value;
    const made = await api.start(given);
    location.assign(`/s/${encodeURIComponent(made.id)}`);
  }

  #grow() {
    this.words.style.height = "auto";
    this.words.style.height = `${Math.min(this.words.scrollHeight + 2, innerHeight * 0.4)}px`;
  }
}
