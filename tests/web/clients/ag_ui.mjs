// An AG-UI agent over HTTP: asks, reads the run, prints the events and the messages it made of them.
import { HttpAgent } from "@ag-ui/client";

const [address, token, session] = process.argv.slice(2);
const agent = new HttpAgent({
  url: `${address}/api/v1/sessions/${session}/chat?format=ag-ui`,
  headers: { Authorization: `Bearer ${token}` },
  threadId: session,
  initialMessages: [{ id: "u1", role: "user", content: "Fix the test" }],
});
const events = [];
let error = null;
try {
  await agent.runAgent({}, {
    onEvent: ({ event }) => void events.push(event.type),
    onRunErrorEvent: ({ event }) => void (error = event.message),
  });
} catch (problem) {
  error = String(problem);
}
console.log(JSON.stringify({ events, messages: agent.messages, error }));
