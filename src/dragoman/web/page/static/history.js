// The history while sessions are being indexed: shows the progress, and the complete list at the end.
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
    $("indexing-words").textContent = `Indexing older sessions: ${count.format(files)} of ${count.format(all_files)} files. The search does not cover the rest yet.`;
  } else if (wasReading && answer) return (await renew("results")) && tell("All sessions are indexed.");
  if (reading || (wasReading && !answer)) setTimeout(() => look(true), PERIOD);
}
