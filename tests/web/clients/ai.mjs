// A chat component of the AI SDK, without the component: asks, reads the answer, prints what it has got.
import { DefaultChatTransport, readUIMessageStream } from "ai";

const [address, token, session] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const api = `${address}/api/v1/sessions/${session}`;

async function read(stream) {
  let last = null;
  const errors = [];
  const messages = readUIMessageStream({ stream, onError: (error) => errors.push(String(error)), terminateOnError: false });
  for await (const message of messages) last = message;
  return { message: last, errors };
}

const transport = new DefaultChatTransport({
  api: `${api}/chat?format=ai-sdk`,
  headers,
  prepareReconnectToStreamRequest: () => ({ api: `${api}/stream?format=ai-sdk`, headers }),
});
const asked = [{ id: "u1", role: "user", parts: [{ type: "text", text: "Fix the test" }] }];
const sent = await transport.sendMessages({ chatId: session, messages: asked, trigger: "submit-message", messageId: undefined, abortSignal: undefined });
const answer = await read(sent);
const idle = await transport.reconnectToStream({ chatId: session });
const again = await fetch(`${api}/stream?format=ai-sdk&after=0`, { headers });
console.log(JSON.stringify({ answer, idle, header: again.headers.get("x-vercel-ai-ui-message-stream") }));
await again.body.cancel();
