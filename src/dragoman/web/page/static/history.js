// The history while it is still being read: how far that is, and the rest when it is done.
import { $, renew, tell } from "./dom.js";
import * as api from "./api.js";

const PERIOD = 1500;
const count = new Intl.NumberFormat("en");

export function begin() {
  look(false);
}

async function look(wasReading) {
  const answer = await api.call("GET", "sessions?limit=1").catch(() => null);
  const reading = answer?.indexing ?? null;
  $("indexing").hidden = !reading;
  if (reading) {
    const { files, all_files, bytes, all_bytes } = reading;
    $("indexing-bar").value = all_bytes ? bytes / all_bytes : 0;
    $("indexing-words").textContent = `Reading older sessions: ${count.format(files)} of ${count.format(all_files)} files. What is not read yet is not found yet.`;
  } else if (wasReading && answer) return (await renew("results")) && tell("All sessions have been read.");
  if (reading || (wasReading && !answer)) setTimeout(() => look(true), PERIOD);
}
