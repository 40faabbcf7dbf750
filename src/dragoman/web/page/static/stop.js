// Stops a turn with its commands, commands that outlived a turn, or a whole session, and reports what was stopped.
import { $, clean, toast } from "./dom.js";
import * as api from "./api.js";

const LOOK = 5000; // milliseconds between checks for remaining commands

export class Stop {
  constructor(id, facts) {
    this.id = id;
    this.facts = facts;
    this.button = $("left-over");
  }

  open() {
    $("interrupt").addEventListener("click", () => this.turn());
    this.button.addEventListener("click", () => this.#act(async () => said("Stopped", await api.stopCommands(this.id)) || "No command was running."));
    this.look();
  }

  turn() {
    return this.#ending("The turn was stopped", () => api.interrupt(this.id));
  }

  session() {
    return this.#ending("The session was ended", () => api.act(this.id, "stop"));
  }

  // Both also stop the commands, which are listed beforehand.
  #ending(words, end) {
    return this.#act(async () => {
      const running = await api.commands(this.id).catch(() => []);
      await end();
      return said(`${words}. Stopped with it`, running) || `${words}.`;
    });
  }

  async #act(act) {
    try {
      toast(await act());
    } catch (error) {
      toast(error.message, "error");
    }
    this.look();
  }

  // Commands that outlived their turn. During a turn, its stop button covers them.
  async look() {
    clearTimeout(this.timer);
    const running = this.facts.isBusy ? [] : await api.commands(this.id).catch(() => []);
    const isSeen = running.length > 0 && !this.facts.isBusy;
    this.button.hidden = !isSeen;
    if (!isSeen) return;
    const count = running.length === 1 ? "1 running command" : `${running.length} running commands`;
    this.button.textContent = `Stop ${count}`;
    this.button.title = running.map((each) => clean(each.command)).join("\n");
    this.timer = setTimeout(() => this.look(), LOOK);
  }
}

function said(words, commands) {
  const names = [...new Set(commands.map((each) => clean(each.command)))];
  const shown = names.slice(0, 3).map((each) => (each.length > 60 ? `${each.slice(0, 59)}…` : each));
  const rest = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return names.length ? `${words}: ${shown.join(", ")}${rest}` : "";
}
