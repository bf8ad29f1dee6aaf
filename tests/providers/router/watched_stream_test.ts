import assert from "node:assert/strict";
import { runPermitted } from "../../helpers/run_permitted.ts";

const PROGRAM = `
import { watchedStream } from "${import.meta.resolve("../../../src/providers/router/_watched_stream.ts")}";
import { REAL_CLOCK } from "${import.meta.resolve("../../../src/domain/kit/concurrency.ts")}";
const provider = {
  name: "flood",
  async *stream() {
    for (let at = 0; at < 500_000; at++) yield { type: "text", delta: "x" + at };
  },
};
const patience = { clock: REAL_CLOCK, firstTokenMs: 600_000, silenceMs: 600_000, replyMs: 3_600_000 };
let count = 0;
const request = { model: "m", messages: [], signal: new AbortController().signal };
for await (const _ of watchedStream(provider, request, patience)) count++;
console.log(count);
`;

Deno.test("watchedStream() keeps no piece that it passed on, however many pieces a reply has", async () => {
  const { stdout, stderr } = await runPermitted(PROGRAM, { heapMiB: 48 });
  assert.equal(stdout, "500000\n", stderr.slice(-500));
});
