import assert from "node:assert/strict";
import { runPermitted } from "../../helpers/run_permitted.ts";

const PROGRAM = `
import { ReplyStream } from "${import.meta.resolve("../../../src/prompt/reply/stream_reply.ts")}";
const stream = new ReplyStream(), kept = [];
stream.push('{"thinking":"');
for (let at = 0; at < 4_000; at++) kept.push(stream.push("a".repeat(1_000)).thinking);
console.log(kept.join("").length);
`;

Deno.test("ReplyStream text that is kept takes no more than its characters", async () => {
  const { stdout, stderr } = await runPermitted(PROGRAM, { heapMiB: 48 });
  assert.equal(stdout, "4000000\n", stderr.slice(-500));
});
