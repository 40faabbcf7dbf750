// The client of the HTTP API. An error response becomes a Refused with its message.
import { ask } from "./key.js";

export class Refused extends Error {
  constructor(status, words, answer) {
    super(words);
    this.status = status;
    this.answer = answer;
  }
}

export async function call(method, path, body, headers = {}) {
  let response;
  try {
    response = await ask(`/api/v1/${path}`, {
      method,
      headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Refused(0, "Cannot reach the server.");
  }
  if (response.status === 401) {
    location.reload(); // the login has ended: reload to show the login form
    throw new Refused(401, "Not signed in.");
  }
  const text = await response.text();
  let answer = null;
  try {
    answer = text ? JSON.parse(text) : null;
  } catch {
    answer = null;
  }
  if (!response.ok) {
    const words = answer?.detail ?? answer?.error?.message ?? answer?.message;
    throw new Refused(response.status, typeof words === "string" ? words : `Refused (${response.status}).`, answer);
  }
  return answer;
}

const of = (id) => `sessions/${encodeURIComponent(id)}`;

export const session = (id) => call("GET", of(id));
export const fragments = (id, query) => call("GET", `${of(id)}/fragments?${new URLSearchParams(query)}`);
export const start = (given) => call("POST", "sessions", given, { "Idempotency-Key": crypto.randomUUID() });
export const turn = (id, given) => call("POST", `${of(id)}/turns`, given, { "Idempotency-Key": crypto.randomUUID() });
export const findTurn = (id, number) => call("GET", `${of(id)}/turns/${number}`);
export const steer = (id, text) => call("POST", `${of(id)}/steer`, { text });
export const dropSteered = (id, steered) => call("DELETE", `${of(id)}/steered/${encodeURIComponent(steered)}`);
export const interrupt = (id) => call("POST", `${of(id)}/interrupt`);
export const commands = async (id) => (await call("GET", `${of(id)}/commands`)).commands;
export const stopCommands = async (id) => (await call("POST", `${of(id)}/commands/stop`)).stopped;
export const rename = (id, title) => call("PATCH", of(id), { title });
export const handOff = (id, given) => call("POST", `${of(id)}/handoff`, given, { "Idempotency-Key": crypto.randomUUID() });
export const act = (id, what) => call("POST", `${of(id)}/${what}`);
export const approvals = (id) => call("GET", `approvals?session_id=${encodeURIComponent(id)}`);
export const decide = (approval, given) => call("POST", `approvals/${encodeURIComponent(approval)}`, given);
export const savePolicy = (text) => call("PUT", "policy", { text });
export const remembered = () => call("GET", "policy/remembered");
export const forget = (id) => call("DELETE", `policy/remembered/${encodeURIComponent(id)}`);
export const tryPolicy = (text) => call("POST", "policy/try", { text });
export const stream = (id, after) => `/api/v1/${of(id)}/stream?after=${after}`;
export const sessions = () => "/api/v1/stream";
