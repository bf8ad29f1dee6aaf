import assert from "node:assert/strict";
import { textStream } from "../../../../src/channels/http/followed_query.ts";

Deno.test("textStream() says that it is alive as long as there is no text, then ends with the texts", async () => {
  const { promise: said, resolve } = Promise.withResolvers<string>();
  const stream = textStream(
    (async function* () {
      yield await said;
      yield "b";
    })(),
    { heartbeatMs: 1, alive: "." },
  );
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    text += decoder.decode(bytes);
    if (text === "...") resolve("a");
  }
  assert.match(text, /^\.{3,}a\.*b$/);
});

Deno.test("textStream() fails as its texts do, and leaves no timer", async () => {
  const stream = textStream(
    (async function* () {
      yield "a";
      throw new Error("It broke");
    })(),
    { heartbeatMs: 60_000, alive: "." },
  );
  await assert.rejects(new Response(stream).text(), /It broke/);
});
