import assert from "node:assert/strict";
import { LiveEnvironments, type WantedFor } from "../../src/conversation/query_runner.ts";

class Fake {
  alive = false;
  sound = true;
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
  const runs = new Map<string, number>();
  const use = async (branchId: string, wanted: Partial<WantedFor> = {}): Promise<Fake> => {
    return await live.lockOf({ branchId }).run(async () => {
      const number = (runs.get(branchId) ?? 0) + 1;
      runs.set(branchId, number);
      const after = number === 1 ? null : `${number - 1}`;
      return await live.use({ branchId }, { run: `${number}`, after, reopen: false, ...wanted });
    });
  };
  return { live, made, gone, use };
}

Deno.test("LiveEnvironments keeps the last used ones, however many there were", async () => {
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
  const running = live.lockOf({ branchId: "query" }).run(() => done.promise);
  for (let at = 0; at < 5; at++) await use(`b${at}`);
  assert.ok(live.isBusy("query"));
  assert.deepEqual(gone, ["b0", "b1", "b2", "b3"]);
  done.resolve();
  await running;
  await use("next");
  assert.deepEqual(gone.slice(4), ["query", "b4"]);
  assert.deepEqual(made.filter(({ closed }) => !closed).map(({ branchId }) => branchId), ["child", "program", "next"]);
});

Deno.test("LiveEnvironments.trim() closes the environments that simultaneous queries have left", async () => {
  const { live, made, gone, use } = rig({ kept: 2 });
  for (let at = 0; at < 6; at++) {
    await use(`b${at}`);
    const last = made.at(-1);
    if (last) last.alive = true;
  }
  assert.deepEqual([made.length, gone.length], [6, 0]);
  for (const one of made) one.alive = false;
  live.trim();
  assert.deepEqual(gone, ["b0", "b1", "b2", "b3"]);
});

Deno.test("LiveEnvironments retries a failed opening, under the same lock", async () => {
  let works = false;
  const { live, use } = rig({ open: (id) => works ? Promise.resolve(new Fake(id)) : Promise.reject(new Error("no")) });
  const lock = live.lockOf({ branchId: "a" });
  await assert.rejects(use("a"), /no/);
  works = true;
  assert.equal((await use("a")).closed, false);
  assert.equal(live.lockOf({ branchId: "a" }), lock);
});

Deno.test("LiveEnvironments opens one again after a run of another process, for an older state, and where it is not sound", async () => {
  const { made, use } = rig();
  const first = await use("a");
  assert.equal(await use("a"), first);
  const cases: readonly (readonly [string, Partial<WantedFor>])[] = [
    ["another process", { after: "theirs" }],
    ["no run before it", { after: null }],
    ["an older state", { reopen: true }],
  ];
  for (const [why, wanted] of cases) {
    const before = made.at(-1);
    const next = await use("a", wanted);
    assert.notEqual(next, before, why);
    assert.equal(before?.closed, true, why);
    assert.equal(await use("a"), next, `${why}: and kept`);
  }
  const last = made.at(-1);
  if (last) last.sound = false;
  assert.notEqual(await use("a"), last);
  assert.equal(made.filter(({ closed }) => !closed).length, 1);
});

Deno.test("LiveEnvironments forgets a branch that was never opened, but not the requested one", async () => {
  const { live, gone } = rig({ kept: 1 });
  const first = live.lockOf({ branchId: "a" });
  assert.equal(live.lockOf({ branchId: "a" }), first);
  live.lockOf({ branchId: "b" });
  assert.deepEqual(gone, ["a"]);
  await Promise.resolve();
});
