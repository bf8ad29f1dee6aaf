import assert from "node:assert/strict";
import { LiveEnvironments } from "../../src/conversation/live_environments.ts";

class Fake {
  alive = false;
  readonly programs = { running: false };
  closed = false;

  constructor(readonly branchId: string) {}

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

function rig({ kept = 3, open = (branchId: string) => Promise.resolve(new Fake(branchId)) } = {}) {
  const made: Fake[] = [], gone: string[] = [];
  const live = new LiveEnvironments<Fake, { readonly branchId: string }>({
    kept,
    open: async ({ branchId }) => {
      const fake = await open(branchId);
      made.push(fake);
      return fake;
    },
    onClose: (branchId) => gone.push(branchId),
  });
  const use = async (branchId: string): Promise<Fake> => {
    const { environment, lock } = live.of({ branchId });
    return await lock.run(async () => await environment);
  };
  return { live, made, gone, use };
}

Deno.test("LiveEnvironments keeps those that were used last, however many there were", async () => {
  const { live, made, gone, use } = rig();
  for (let at = 0; at < 1000; at++) {
    await use("often");
    await use(`b${at}`);
  }
  assert.equal(made.length, 1001, "the one that is used all the time was opened once");
  assert.equal(made.filter(({ closed }) => !closed).length, 3);
  assert.equal(gone.length, 998);
  assert.equal(await use("b999"), made.at(-1));
  const again = await use("b0");
  assert.notEqual(again, made.find(({ branchId }) => branchId === "b0"), "it is opened again");
  await live.closeAll();
  assert.ok(made.every(({ closed }) => closed));
});

Deno.test("LiveEnvironments closes none in which something lives, runs or waits", async () => {
  const { live, made, gone, use } = rig({ kept: 1 });
  (await use("child")).alive = true;
  (await use("program")).programs.running = true;
  const done = Promise.withResolvers<void>();
  const { lock } = live.of({ branchId: "query" });
  const running = lock.run(() => done.promise);
  for (let at = 0; at < 5; at++) await use(`b${at}`);
  assert.ok(live.isBusy("query"));
  assert.deepEqual(gone, ["b0", "b1", "b2", "b3"]);
  done.resolve();
  await running;
  await use("next");
  assert.deepEqual(gone.slice(4), ["query", "b4"]);
  assert.deepEqual(made.filter(({ closed }) => !closed).map(({ branchId }) => branchId), ["child", "program", "next"]);
});

Deno.test("LiveEnvironments.trim() closes what queries that ran at once have left", async () => {
  const { live, made, gone } = rig({ kept: 2 });
  const done = Promise.withResolvers<void>();
  const running = Array.from({ length: 6 }, (_, at) => live.of({ branchId: `b${at}` }).lock.run(() => done.promise));
  done.resolve();
  await Promise.all(running);
  assert.deepEqual([made.length, gone.length], [6, 0]);
  live.trim();
  assert.deepEqual(gone, ["b0", "b1", "b2", "b3"]);
});

Deno.test("LiveEnvironments forgets one that could not be opened, and keeps the lock of one that is opened anew", async () => {
  let works = false;
  const { live, use } = rig({ open: (id) => works ? Promise.resolve(new Fake(id)) : Promise.reject(new Error("no")) });
  await assert.rejects(use("a"), /no/);
  works = true;
  const first = await use("a");
  const { lock } = live.of({ branchId: "a" });
  await lock.run(async () => {
    await first.close();
    assert.notEqual(await live.again({ branchId: "a" }), first);
    assert.ok(live.isBusy("a"));
  });
  assert.equal(live.of({ branchId: "a" }).lock, lock);
});
