import assert from "node:assert/strict";
import { OutputQueue } from "../../../src/app/terminal/deno_io.ts";

/** Makes a queue to outputs that accept this many bytes at once, each time they are allowed to. */
function rig({ atOnce = 1e9 }: { readonly atOnce?: number } = {}) {
  const written: string[] = [];
  const failed: string[] = [];
  const state = { gate: Promise.resolve(), broken: "" };
  const queue = new OutputQueue<string>({
    write: async (target, bytes) => {
      await state.gate;
      if (state.broken === target) throw new Error("gone");
      const taken = bytes.subarray(0, atOnce);
      written.push(`${target}:${new TextDecoder().decode(taken)}`);
      return taken.length;
    },
    failed: (target) => failed.push(target),
  });
  return { queue, written, failed, state };
}

Deno.test("OutputQueue never makes its caller wait, and keeps the order over both targets", async () => {
  const { queue, written, state } = rig();
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  assert.equal(queue.busy, null);
  for (const [target, text] of [["out", "a"], ["out", "b"], ["err", "c"], ["err", "d"], ["out", "e"]] as const) {
    queue.add(target, text);
  }
  await Promise.resolve();
  assert.deepEqual(written, []);
  assert.notEqual(queue.busy, null);
  gate.resolve();
  await queue.busy;
  assert.deepEqual(written, ["out:a", "out:b", "err:cd", "out:e"]);
  assert.equal(queue.busy, null);
  queue.add("out", "f");
  await queue.busy;
  assert.equal(written.at(-1), "out:f");
});

Deno.test("OutputQueue writes all of a text, even if the target takes little at once", async () => {
  const { queue, written } = rig({ atOnce: 3 });
  queue.add("out", "äöü is it");
  await queue.busy;
  assert.deepEqual(new Set(written.map((one) => one.slice(0, 4))), new Set(["out:"]));
  assert.equal(written.length, 4);
});

Deno.test("OutputQueue reports a target that takes nothing, and still writes to the other", async () => {
  const { queue, written, failed, state } = rig();
  state.broken = "out";
  queue.add("out", "a");
  queue.add("err", "b");
  await queue.busy;
  assert.deepEqual([written, failed], [["err:b"], ["out"]]);
});

Deno.test("OutputQueue is not busy after an empty text", async () => {
  const { queue, written } = rig();
  queue.add("out", "");
  assert.equal(queue.busy, null);
  queue.add("out", "a");
  await queue.busy;
  assert.deepEqual([queue.busy, written], [null, ["out:a"]]);
});
