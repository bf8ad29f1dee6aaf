import assert from "node:assert/strict";
import { SandboxEnded } from "../../../src/domain/errors.ts";
import { isAlive, type TestSandbox, testSandbox } from "../../helpers/sandbox.ts";

const CHILD = new URL("./lying_child.ts", import.meta.url).pathname;
const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;
const DENO_DIR = denoDir();

function denoDir(): string {
  const { stdout } = new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).outputSync();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

function lying(lie: string, functions: Record<string, () => unknown> = {}): Promise<TestSandbox> {
  const args = ["run", "-A", "--no-check", "--no-lock", "--config", CONFIG, CHILD, lie];
  return testSandbox({ functions, test: { program: { path: Deno.execPath(), args, env: { DENO_DIR } } } });
}

Deno.test("openSandbox() rejects with SandboxEnded when a child greets it wrongly", async (t) => {
  const greetings = [
    "other version",
    "walls that are no walls",
    "a call before ready",
    "garbage before ready",
    "silence and exit",
  ];
  for (const lie of greetings) await t.step(lie, () => assert.rejects(lying(lie), SandboxEnded));
});

/** Each must end the child with this reason, and never harm the main process. */
const LIES: Readonly<Record<string, RegExp>> = {
  "garbage": /its header would have/,
  "a header too long": /its header would have/,
  "a payload too long": /its header would have/,
  "an answer to nobody": /no message with the id \S+ waits for it/,
  "an id that is no id": /field "id" is not valid/,
  "an id that is no text": /field "id" is not valid/,
  "an unknown type": /type is unknown/,
  "ready again": /the child was ready before/,
  "a report that is no codec": /unreadable/,
  "a report that is a list": /unreadable/,
  "a report without fields": /unreadable/,
  "no payload": /unreadable/,
  "another outcome": /unreadable/,
  "a preview that is a number": /unreadable/,
  "names that break a line": /unreadable/,
  "a variable named like a tag": /unreadable/,
  "a variable without a summary": /unreadable/,
  "a variable whose bytes are text": /unreadable/,
  "a value over its limit": /unreadable/,
  "an error that is text": /unreadable/,
  "a call of an unknown function": /does not have/,
  "a call of another run": /its block run \S+ is unknown/,
  "a call without an id": /field "id" is not valid/,
  "a call whose id was used": /used before/,
  "more calls than allowed": /64 calls are running, the limit/,
  "a cancel of nothing": /knows no call with this id/,
  "a pong of nothing": /no ping with the id \S+ waits for a reply/,
  "settled of another run": /not belong to the running block/,
  "output of another run": /not belong to the running block/,
  "output to another stream": /field "stream" is not valid/,
  "output too long": /a message has 70000/,
  "output without end": /more than \d+ messages, the limit/,
  "a frame cut off": /middle of a message/,
  "an exit without a word": /exit code 0/,
  "a panic": /panicked/,
};

Deno.test("a child that lies is killed, and the block has the reason", async (t) => {
  for (const [lie, why] of Object.entries(LIES)) {
    await t.step(lie, async () => {
      await using box = await lying(lie, { f: () => new Promise(() => {}) });
      const { result } = await box.run("1", { deadlineMs: 3000 });
      assert.equal(result.outcome, "killed");
      assert.match(result.error?.message ?? "", why);
      // deno-lint-ignore no-control-regex
      assert.doesNotMatch(result.error?.message ?? "", /[\u0000-\u0008\u000b-\u001f]/);
      await box.sandbox.close();
      assert.equal(isAlive(box.sandbox.pid), false);
    });
  }
});

Deno.test("the lying child is believed when it does not lie", async () => {
  await using box = await lying("nothing wrong");
  assert.equal((await box.run("1")).result.outcome, "value");
});

Deno.test("a trap without a word counts as memory", async () => {
  await using box = await lying("trapped");
  assert.equal((await box.run("1")).result.outcome, "memory");
});

Deno.test("a child that never answers is killed by the main process's own deadline", async () => {
  await using box = await lying("silence");
  const begun = performance.now();
  const { result } = await box.run("1", { deadlineMs: 10 });
  assert.deepEqual([result.outcome, result.timedOut], ["killed", true]);
  assert.match(result.error?.message ?? "", /Timeout \(0.01s\), and the block did not stop/);
  assert.ok(performance.now() - begun < 60_000);
});
