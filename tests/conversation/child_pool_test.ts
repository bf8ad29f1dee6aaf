import assert from "node:assert/strict";
import { ChildPool, type PooledChild } from "../../src/conversation/query_runner.ts";

class FakeChild {
  readonly #gone = Promise.withResolvers<void>();
  ended = false;

  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  die(): void {
    this.ended = true;
    this.#gone.resolve();
  }
}

class FakeResident implements PooledChild {
  child: FakeChild | null = null;
  rested = 0;
  ran = true;

  get alive(): boolean {
    return this.child !== null && !this.child.ended;
  }

  get used(): boolean {
    return this.alive && this.ran;
  }

  rest(): Promise<void> {
    this.child?.die();
    this.child = null;
    this.rested++;
    return Promise.resolve();
  }
}

class Clock {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly f: () => void }>();

  readonly after = (ms: number, f: () => void): () => void => {
    const timer = { at: this.#now + ms, f };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  async advance(ms: number): Promise<void> {
    this.#now += ms;
    for (const timer of [...this.#timers]) {
      if (timer.at > this.#now) continue;
      this.#timers.delete(timer);
      timer.f();
    }
    await turn();
  }
}

/** Resolves when all code that can run has run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

function house(live: number) {
  const clock = new Clock();
  const errors: unknown[] = [];
  const children = new ChildPool({
    live,
    idleMs: 1000,
    after: clock.after,
    onError: (error) => errors.push(error),
  });
  const residents = Array.from({ length: 5 }, () => new FakeResident());
  const of = (n: number): FakeResident => residents[n]!;
  const begin = async (n: number): Promise<void> => {
    children.forget(String(n));
    if (!of(n).alive) of(n).child = await children.start(() => Promise.resolve(new FakeChild()));
  };
  const end = async (n: number): Promise<void> => {
    children.rest(String(n), of(n));
    await turn();
  };
  const query = async (n: number): Promise<void> => {
    await begin(n);
    await end(n);
  };
  const alive = (): number[] => residents.flatMap(({ alive }, n) => alive ? [n] : []);
  return { clock, errors, children, of, begin, end, query, alive };
}

Deno.test("LivingChildren stops the least recently used child before it starts another one", async () => {
  const { query, alive, children } = house(2);
  for (const n of [0, 1, 0, 2]) await query(n);
  assert.deepEqual(alive(), [0, 2]);
  await query(1);
  assert.deepEqual(alive(), [1, 2]);
  assert.equal(children.count, 2);
});

Deno.test("LivingChildren never stops a child with a running query, and stops others afterwards instead", async () => {
  const { begin, end, query, alive, of, children } = house(1);
  await begin(0);
  await begin(1);
  await query(2);
  assert.deepEqual([alive(), children.count], [[0, 1], 2], "the one that runs no query goes at once");
  await end(1);
  assert.deepEqual(alive(), [0]);
  assert.equal(of(0).rested, 0);
  await end(0);
  assert.deepEqual([alive(), children.count], [[0], 1]);
});

Deno.test("LivingChildren starts no child before the child that makes room for it has been reaped", async () => {
  const { begin, query, children, of } = house(1);
  await query(0);
  const { child } = of(0);
  const reaped = Promise.withResolvers<void>();
  of(0).rest = async () => {
    await reaped.promise;
    child?.die();
  };
  const beginning = Promise.all([begin(1), begin(2)]);
  await turn();
  assert.deepEqual([of(1).child, of(2).child, children.count], [null, null, 3]);
  reaped.resolve();
  await beginning;
  assert.deepEqual([of(1).alive, of(2).alive, children.count], [true, true, 2], "both of them run a query");
});

Deno.test("LivingChildren lets one start as soon as there is room for it, however many wait", async () => {
  const { begin, query, children, of } = house(3);
  const reaped = [0, 1, 2].map(() => Promise.withResolvers<void>());
  for (const n of [0, 1, 2]) await query(n);
  for (const n of [0, 1, 2]) {
    const { child } = of(n);
    of(n).rest = async () => {
      of(n).child = null;
      await reaped[n]?.promise;
      child?.die();
    };
  }
  const beginning = Promise.all([begin(3), begin(4)]);
  await turn();
  assert.deepEqual([of(0).alive, of(1).alive, of(2).alive], [false, false, true], "one is stopped for each of them");
  reaped[1]?.resolve();
  await turn();
  assert.equal([of(3), of(4)].filter(({ alive }) => alive).length, 1);
  reaped[0]?.resolve();
  await beginning;
  assert.deepEqual([of(3).alive, of(4).alive, of(2).alive, children.count], [true, true, true, 3]);
});

Deno.test("LivingChildren counts starting children, but no child that failed to start or died", async () => {
  const { children, begin, end, of } = house(3);
  const up = Promise.withResolvers<FakeChild>();
  const starting = children.start(() => up.promise);
  assert.equal(children.count, 1);
  await assert.rejects(children.start(() => Promise.reject(new Error("no"))), /no/);
  assert.equal(children.count, 1);
  const child = new FakeChild();
  up.resolve(child);
  await starting;
  await begin(0);
  assert.equal(children.count, 2);
  child.die();
  of(0).child?.die();
  await end(0);
  assert.deepEqual([children.count, children.resting], [0, 0], "what has no child is not known");
});

Deno.test("LivingChildren does not count a child that died at rest as one that can be stopped", async () => {
  const { query, begin, of, children } = house(2);
  await query(0);
  await query(1);
  of(0).child?.die();
  await turn();
  await begin(2);
  assert.deepEqual([of(1).alive, of(2).alive, children.count], [true, true, 2], "there was room");
  await begin(3);
  assert.deepEqual([of(1).alive, children.count], [false, 2]);
});

Deno.test("LivingChildren stops a child without a block at once, and only the child in its place waits for it", async () => {
  const { begin, end, children, of } = house(1);
  await begin(0);
  const { child } = of(0);
  const reaped = Promise.withResolvers<void>();
  of(0).ran = false;
  of(0).rest = async () => {
    of(0).child = null;
    await reaped.promise;
    child?.die();
  };
  await end(0);
  assert.deepEqual([children.resting, children.count, children.hasRoom], [0, 1, true]);
  const beginning = begin(1);
  await turn();
  assert.equal(of(1).child, null);
  reaped.resolve();
  await beginning;
  assert.deepEqual([of(1).alive, children.count], [true, 1]);
});

Deno.test("LivingChildren has room for a child that may not be needed where others rest, and none where all run", async () => {
  const { query, begin, children } = house(2);
  await query(0);
  await query(1);
  assert.ok(children.hasRoom);
  await begin(0);
  assert.ok(children.hasRoom);
  await begin(1);
  assert.ok(!children.hasRoom);
});

Deno.test("LivingChildren stops a child that was idle for long enough, counted from its last query", async () => {
  const { query, alive, clock } = house(3);
  await query(0);
  await query(1);
  await clock.advance(900);
  await query(0);
  await clock.advance(900);
  assert.deepEqual(alive(), [0]);
  await clock.advance(100);
  assert.deepEqual(alive(), []);
});

Deno.test("LivingChildren does not count the time of a query as idle", async () => {
  const { begin, end, query, alive, clock } = house(3);
  await query(0);
  await begin(0);
  await clock.advance(10_000);
  assert.deepEqual(alive(), [0]);
  await end(0);
  await clock.advance(999);
  assert.deepEqual(alive(), [0]);
  await clock.advance(1);
  assert.deepEqual(alive(), []);
});

Deno.test("LivingChildren ignores a forgotten child, and survives a child that cannot be stopped", async () => {
  const { query, clock, children, of, errors } = house(3);
  await query(0);
  children.forget("0");
  await query(1);
  of(1).rest = () => Promise.reject(new Error("no"));
  await clock.advance(1000);
  assert.equal(of(0).rested, 0);
  assert.deepEqual(errors.map(String), ["Error: no"]);
  assert.equal(children.count, 2, "it lives, and counts");
});

Deno.test("LivingChildren knows no more conversations than children may live, however many there were", async () => {
  const { children, clock } = house(2);
  for (let n = 0; n < 100; n++) {
    const resident = new FakeResident();
    resident.child = await children.start(() => Promise.resolve(new FakeChild()));
    children.rest(`c${n}`, resident);
    await turn();
    assert.ok(children.resting <= 2 && children.count <= 2, `${children.count} after ${n}`);
  }
  await clock.advance(1000);
  assert.deepEqual([children.count, children.resting], [0, 0]);
});
