import assert from "node:assert/strict";
import { SandboxGone } from "../../src/domain/errors.ts";
import { NO_GRANTS } from "../../src/sandbox/grants.ts";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/sandbox.ts";
import { type Spare, SparePool, type SparePoolOptions } from "../../src/sandbox/spare_pool.ts";
import { buildSandbox, isAlive, LIMITS, TestSandbox, until } from "../helpers/sandbox.ts";

/** Behaves as a child does, without one. */
class FakeSpare implements Partial<Spare> {
  readonly #gone = Promise.withResolvers<void>();
  readonly adopted: SandboxOptions[] = [];
  ended = false;
  refuses = false;

  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  adopt(options: SandboxOptions): Promise<void> {
    this.adopted.push(options);
    return this.ended || this.refuses ? Promise.reject(new SandboxGone("gone")) : Promise.resolve();
  }

  die(): void {
    this.ended = true;
    this.#gone.resolve();
  }

  close(): Promise<void> {
    this.die();
    return Promise.resolve();
  }
}

function optionsOf(more: Partial<SandboxOptions> = {}): SandboxOptions {
  return { functions: [], constants: {}, onCall: async () => {}, limits: LIMITS, grants: NO_GRANTS, ...more };
}

interface Fakes {
  readonly pool: SparePool;
  readonly started: FakeSpare[];
  readonly cold: FakeSpare[];
  readonly failures: unknown[];
}

/** A pool of fakes; `start` comes before each of them. */
function fakePool(options: Partial<SparePoolOptions> & { readonly before?: (n: number) => Promise<void> } = {}): Fakes {
  const started: FakeSpare[] = [], cold: FakeSpare[] = [], failures: unknown[] = [];
  let starts = 0;
  const fake = (list: FakeSpare[]): Sandbox => {
    const spare = new FakeSpare();
    list.push(spare);
    return spare as unknown as Sandbox;
  };
  const pool = new SparePool({
    size: 1,
    limits: LIMITS,
    firstDelayMs: 1,
    onFailed: (error) => failures.push(error),
    start: async () => {
      await options.before?.(++starts);
      return fake(started) as Spare;
    },
    open: () => Promise.resolve(fake(cold)),
    ...options,
  });
  return { pool, started, cold, failures };
}

Deno.test("SparePool fills itself to its size and not beyond", async () => {
  const { pool, started } = fakePool({ size: 3 });
  assert.ok(await until(() => pool.ready === 3));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(started.length, 3);
  await pool.close();
});

Deno.test("SparePool.take() hands each spare out once, however many ask at the same time", async () => {
  const { pool, started, cold } = fakePool({ size: 2, firstDelayMs: 5 });
  assert.ok(await until(() => pool.ready === 2));
  const taken = await Promise.all(Array.from({ length: 6 }, () => pool.take(optionsOf())));
  assert.equal(new Set(taken).size, 6);
  assert.ok(started.every(({ adopted }) => adopted.length <= 1));
  assert.equal(cold.length + started.filter(({ adopted }) => adopted.length === 1).length, 6);
  assert.ok(await until(() => pool.ready === 2), "it fills itself again");
  await pool.close();
  assert.equal(started.filter(({ adopted, ended }) => adopted.length === 1 && ended).length, 0, "taken ones live on");
});

Deno.test("SparePool that is for once starts one child and none after it", async () => {
  const { pool, started, cold } = fakePool({ once: true });
  await pool.take(optionsOf());
  await pool.take(optionsOf());
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual([started.length, cold.length, pool.ready], [1, 1, 0]);
  await pool.close();
});

Deno.test("SparePool.take() waits for the spare that is being started, one caller only", async () => {
  const gate = Promise.withResolvers<void>();
  const { pool, started, cold } = fakePool({ before: () => gate.promise });
  const first = pool.take(optionsOf());
  const second = await pool.take(optionsOf());
  assert.equal(second, cold[0] as unknown);
  gate.resolve();
  assert.equal(await first, started[0] as unknown);
  await pool.close();
});

Deno.test("SparePool.take() leaves the spare to the next one where its caller gives up, since nothing has entered it", async () => {
  const gate = Promise.withResolvers<void>();
  const { pool, started, cold } = fakePool({ before: () => gate.promise });
  const controller = new AbortController();
  const given = assert.rejects(pool.take(optionsOf({ signal: controller.signal })), SandboxGone);
  controller.abort();
  await given; // before the spare is there
  gate.resolve();
  assert.ok(await until(() => pool.ready === 1));
  await assert.rejects(pool.take(optionsOf({ signal: controller.signal })), SandboxGone);
  assert.equal(pool.ready, 1);
  assert.equal(await pool.take(optionsOf()), started[0] as unknown);
  assert.deepEqual([started[0]?.adopted.length, cold.length], [1, 0]);
  await pool.close();
});

Deno.test("SparePool that is for once ends its child where the first conversation has no use for it", async () => {
  const grants = { ...NO_GRANTS, net: ["127.0.0.1:1"] };
  for (const early of [false, true]) {
    const gate = Promise.withResolvers<void>();
    const { pool, started, cold } = fakePool({ once: true, before: () => gate.promise });
    if (early) gate.resolve();
    assert.ok(!early || await until(() => pool.ready === 1));
    await pool.take(optionsOf({ grants }));
    gate.resolve();
    assert.ok(await until(() => started[0]?.ended ?? false));
    assert.deepEqual([started[0]?.adopted, cold.length, pool.ready], [[], 1, 0]);
    await pool.close();
  }
  const { pool, started } = fakePool({ once: true });
  const controller = new AbortController();
  controller.abort();
  await assert.rejects(pool.take(optionsOf({ signal: controller.signal })), SandboxGone);
  assert.ok(await until(() => started[0]?.ended ?? false));
  await pool.close();
});

Deno.test("SparePool.take() gives a conversation with a grant, a launcher or other limits a child of its own", async () => {
  const { pool, started, cold } = fakePool();
  assert.ok(await until(() => pool.ready === 1));
  await pool.take(optionsOf({ grants: { ...NO_GRANTS, net: ["example.com:443"] } }));
  await pool.take(optionsOf({ launcher: ["/usr/bin/env"] }));
  await pool.take(optionsOf({ limits: { ...LIMITS, memoryBytes: 1 } }));
  assert.equal(cold.length, 3);
  assert.deepEqual(started[0]?.adopted, []);
  await pool.close();
});

Deno.test("SparePool replaces a spare that dies, and never hands a dead one out", async () => {
  const { pool, started, failures } = fakePool();
  assert.ok(await until(() => pool.ready === 1));
  started[0]?.die();
  assert.ok(await until(() => started.length === 2 && pool.ready === 1));
  assert.equal(failures.length, 1);
  const dying = started[1]!;
  dying.ended = true; // its end has not been seen yet
  assert.notEqual(await pool.take(optionsOf()), dying as unknown);
  assert.deepEqual(dying.adopted, []);
  await pool.close();
});

Deno.test("SparePool.take() opens a new child where the spare dies while it is handed out", async () => {
  const { pool, started, cold } = fakePool();
  assert.ok(await until(() => pool.ready === 1));
  started[0]!.refuses = true;
  assert.equal(await pool.take(optionsOf()), cold[0] as unknown);
  assert.equal(started[0]!.ended, true);
  await pool.close();
});

Deno.test("SparePool tries again, later each time, where no spare can be started", async () => {
  const times: number[] = [];
  const { pool, cold, failures } = fakePool({
    firstDelayMs: 4,
    before: () => {
      times.push(performance.now());
      return Promise.reject(new Error("no"));
    },
  });
  await pool.take(optionsOf());
  assert.equal(cold.length, 1, "who asks does not see the failure");
  assert.ok(await until(() => times.length === 4));
  await pool.close();
  assert.ok(times[3]! - times[2]! > 20, "8, 16, 32 ms");
  assert.ok(failures.length >= 3);
});

Deno.test("SparePool.close() ends the ready ones and one that is being started, and takes no more", async () => {
  const gate = Promise.withResolvers<void>();
  const { pool, started } = fakePool({ size: 2, before: (n) => n === 2 ? gate.promise : Promise.resolve() });
  assert.ok(await until(() => pool.ready === 1));
  await new Promise((resolve) => setTimeout(resolve, 10));
  const closing = pool.close();
  gate.resolve();
  await closing;
  assert.deepEqual(started.map(({ ended }) => ended), [true, true]);
  await assert.rejects(pool.take(optionsOf()), SandboxGone);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(started.length, 2);
});

Deno.test("SparePool.close() ends the spare that a caller waits for, and the caller learns of it", async () => {
  const gate = Promise.withResolvers<void>();
  const { pool, started } = fakePool({ before: () => gate.promise });
  const taking = assert.rejects(pool.take(optionsOf()), SandboxGone);
  const closing = pool.close();
  gate.resolve();
  await Promise.all([closing, taking]);
  assert.equal(started[0]?.ended, true);
});

Deno.test("a real spare gets the functions, constants and variables of its conversation", async () => {
  await buildSandbox();
  const pool = new SparePool({ size: 1, limits: LIMITS });
  try {
    assert.ok(await until(() => pool.ready === 1));
    const sandbox = await pool.take(optionsOf({
      functions: ["math.add", "doc"],
      constants: { "math.zero": 0 },
      onCall: ({ name, args: [a, b] }) => Promise.resolve(name === "doc" ? `doc of ${a}` : Number(a) + Number(b)),
    }));
    await using box = new TestSandbox(sandbox);
    assert.equal(await box.show("await math.add(math.zero, 5)"), "5");
    assert.equal(await box.show("await doc(math.add)"), '"doc of math.add"');
    const { result, notes } = await box.run("math = 1; const kept = [1]; results.length");
    assert.deepEqual([result.preview, result.touched], ["2", []]);
    assert.match(notes.join(), /math belongs to the sandbox/);
    assert.equal(await box.show("await math.add(1, 1)"), "2", "a name that was overwritten is there again");
    assert.equal(await box.show("kept"), "[ 1 ]");
    const { walls } = sandbox;
    assert.deepEqual([walls.realm, walls.permissions], [true, true]);
  } finally {
    await pool.close();
  }
});

Deno.test("a real pool ends its children when it is closed", async () => {
  await buildSandbox();
  const pool = new SparePool({ size: 1, limits: LIMITS });
  assert.ok(await until(() => pool.ready === 1));
  const sandbox = await pool.take(optionsOf());
  await pool.close();
  assert.ok(isAlive(sandbox.pid), "a taken one belongs to its taker");
  await sandbox.close();
  assert.ok(!isAlive(sandbox.pid));
});
