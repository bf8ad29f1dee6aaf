/** Runs a listener in a separate process that has few file descriptors. `/slow` is answered over half a second. */
import { Listener } from "../../../src/channels/http/connections.ts";

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < 10; at++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    yield new TextEncoder().encode(`${at} `);
  }
}

const listener = new Listener({
  host: "127.0.0.1",
  port: 0,
  failed: (why) => console.log(`failed: ${why}`),
  answer: ({ url }) => new Response(url.endsWith("/slow") ? ReadableStream.from(pieces()) : "here"),
});
console.log(`http://127.0.0.1:${listener.port}/`);
for await (const _ of Deno.stdin.readable);
await listener.close();
console.log("closed");
