import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PROGRAM = `
import { ReplyStream } from "./src/prompt/reply/stream_reply.ts";
const stream = new ReplyStream(), kept = [];
stream.push('{"thinking":"');
for (let at = 0; at < 4_000; at++) kept.push(stream.push("a".repeat(1_000)).thinking);
console.log(kept.join("").length);
`;

Deno.test("ReplyStream text that is kept takes no more than its characters", async () => {
  const args = ["run", "--no-check", "--quiet", "--config", "deno.json", "--ext=ts"];
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args, "--v8-flags=--max-old-space-size=48", "-"],
    cwd: ROOT,
    ...{ stdin: "piped", stdout: "piped", stderr: "piped" },
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(PROGRAM));
  await writer.close();
  const { stdout, stderr } = await child.output();
  assert.equal(new TextDecoder().decode(stdout), "4000000\n", new TextDecoder().decode(stderr).slice(-500));
});
