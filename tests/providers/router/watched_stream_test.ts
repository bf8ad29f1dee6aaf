import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PROGRAM = `
import { watchedStream } from "./src/providers/router/_watched_stream.ts";
import { REAL_CLOCK } from "./src/domain/kit/clock.ts";
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

Deno.test("watchedStream() keeps nothing of what it passed on, however many pieces a reply has", async () => {
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
  assert.equal(new TextDecoder().decode(stdout), "500000\n", new TextDecoder().decode(stderr).slice(-500));
});
