import assert from "node:assert/strict";
import { SandboxGone } from "../../src/domain/errors.ts";
import { StartSlots } from "../../src/sandbox/_start_slots.ts";

function rig(slots: number) {
  const queue = new StartSlots(slots);
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const start = (name: string, signal?: AbortSignal): Promise<void> =>
    queue.use(() => {
      started.push(name);
      const end = Promise.withResolvers<void>();
      ends.set(name, end);
      return end.promise;
    }, signal);
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.resolve();
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  return { started, start, end };
}

Deno.test("StartSlots starts as many at a time as there are slots, in the order of asking", async () => {
  const { started, start, end } = rig(2);
  const all = ["a", "b", "c", "d"].map((name) => start(name));
  assert.deepEqual(started, ["a", "b"]);
  await end("b");
  assert.deepEqual(started, ["a", "b", "c"]);
  for (const name of ["a", "c", "d"]) await end(name);
  await Promise.all(all);
});

Deno.test("StartSlots never starts what was given up while it waited, and gives its place to the next one", async () => {
  const { started, start, end } = rig(1);
  const controller = new AbortController();
  const first = start("a");
  const given = assert.rejects(start("b", controller.signal), SandboxGone);
  const third = start("c");
  controller.abort();
  await given;
  await end("a");
  assert.deepEqual(started, ["a", "c"]);
  await end("c");
  await Promise.all([first, third]);
  await assert.rejects(start("d", controller.signal), SandboxGone);
  const last = start("e");
  assert.deepEqual(started, ["a", "c", "e"], "the slot is free again");
  await end("e");
  await last;
});
