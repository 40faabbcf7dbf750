// Messages to the running turn: shown as pending until the agent reads them, and put back into the text field if
// the turn ends first.
import { make, toast } from "./dom.js";
import * as api from "./api.js";

export class Steered {
  constructor(id, place, composer) {
    this.id = id;
    this.place = place;
    this.composer = composer;
    this.taking = new Set();
  }

  // Shows the server's current list.
  show(steered = []) {
    const pending = steered.filter((each) => each.state === "pending");
    this.place.replaceChildren(
      ...pending.map(({ text }) =>
        make("div", { class: "pending" }, make("span", { class: "who" }, "Waiting for the agent to read this"), make("p", {}, text)),
      ),
    );
    this.place.hidden = !pending.length;
    for (const each of steered) if (each.state === "returned") this.#take(each);
  }

  // The first tab gets the text; the others get a 404.
  async #take({ id, text }) {
    if (this.taking.has(id)) return;
    this.taking.add(id);
    try {
      await api.dropSteered(this.id, id);
    } catch {
      return this.taking.delete(id);
    }
    this.composer.giveBack(text);
    toast("The turn ended before the agent read this. It is back in the text field.", "error");
  }
}
