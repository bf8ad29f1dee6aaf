import assert from "node:assert/strict";
import { LivingChildren, type Resident } from "../../src/conversation/living_children.ts";

/** A child that is started by a query and counts how often it was stopped. */
class FakeResident implements Resident {
  alive = false;
  rested = 0;
  rest(): Promise<void> {
    this.alive = false;
    this.rested++;
    return Promise.resolve();
  }
}

/** Timers that run when the test says so. */
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
    await Promise.resolve();
  }
}

function house(live: number) {
  const clock = new Clock();
  const errors: unknown[] = [];
  const children = new LivingChildren({
    live,
    idleMs: 1000,
    after: clock.after,
    onError: (error) => errors.push(error),
  });
  const residents = Array.from({ length: 4 }, () => new FakeResident());
  const begin = async (n: number): Promise<void> => {
    await children.begin(String(n), residents[n]!);
    residents[n]!.alive = true;
  };
  const end = (n: number): Promise<void> => children.end(String(n), residents[n]!);
  const query = async (n: number): Promise<void> => {
    await begin(n);
    await end(n);
  };
  const alive = (): number[] => residents.flatMap(({ alive }, n) => alive ? [n] : []);
  return { clock, errors, children, residents, begin, end, query, alive };
}

Deno.test("LivingChildren stops the least recently used child before one more is started", async () => {
  const { query, alive } = house(2);
  for (const n of [0, 1, 0, 2]) await query(n);
  assert.deepEqual(alive(), [0, 2]);
  await query(1);
  assert.deepEqual(alive(), [1, 2]);
});

Deno.test("LivingChildren never stops one with a running query, and makes up for it afterwards", async () => {
  const { begin, end, query, alive, residents } = house(1);
  await begin(0);
  await begin(1);
  await query(2);
  assert.deepEqual(alive(), [0, 1], "the one that runs no query goes at once");
  await end(1);
  assert.deepEqual(alive(), [0]);
  assert.equal(residents[0]?.rested, 0);
  await end(0);
  assert.deepEqual(alive(), [0]);
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
  const { begin, end, alive, clock } = house(3);
  await begin(0);
  await clock.advance(10_000);
  await begin(0); // another one waits
  await end(0);
  await clock.advance(10_000);
  assert.deepEqual(alive(), [0]);
  await end(0);
  await clock.advance(1000);
  assert.deepEqual(alive(), []);
});

Deno.test("LivingChildren leaves alone what it was told to forget, and survives a child that cannot be stopped", async () => {
  const { query, end, clock, children, residents, errors } = house(3);
  await query(0);
  children.forget("0");
  await end(0);
  await query(1);
  residents[1]!.rest = () => Promise.reject(new Error("no"));
  await clock.advance(1000);
  await clock.advance(0);
  assert.equal(residents[0]?.rested, 0);
  assert.deepEqual(errors.map(String), ["Error: no"]);
});

Deno.test("LivingChildren takes a conversation that was closed and opened again for another", async () => {
  const { begin, clock, children, residents } = house(3);
  await begin(0);
  children.forget("0");
  const again = new FakeResident();
  await children.begin("0", again);
  again.alive = true;
  await children.end("0", residents[0]!); // the query of the one before, late
  await clock.advance(5000);
  assert.equal(again.rested, 0);
  await children.end("0", again);
  await clock.advance(1000);
  assert.equal(again.rested, 1);
});

Deno.test("LivingChildren knows no more conversations than children may live, however many there were", async () => {
  const { children, clock } = house(2);
  for (let n = 0; n < 100; n++) {
    const resident = new FakeResident();
    await children.begin(`c${n}`, resident);
    resident.alive = true;
    await children.end(`c${n}`, resident);
    assert.ok(children.size <= 3, `${children.size} after ${n}`);
  }
  await clock.advance(1000);
  await clock.advance(0);
  assert.equal(children.size, 0);
});
