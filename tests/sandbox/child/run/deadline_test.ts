import assert from "node:assert/strict";
import { BlockDeadline } from "../../../../src/sandbox/child/run/deadline.ts";

/** A clock and timers that the test moves. */
class Clock {
  now = 0;
  started = 0;
  due: number[] = [];
  readonly #timers = new Map<number, { readonly at: number; readonly f: () => void }>();
  readonly deadline = new BlockDeadline<number>({
    setTimeout: (f, ms) => {
      this.#timers.set(++this.started, { at: this.now + ms, f });
      return this.started;
    },
    clearTimeout: (handle) => this.#timers.delete(handle),
    now: () => this.now,
    onDue: () => this.due.push(this.now),
  });

  get running(): number {
    return this.#timers.size;
  }

  /** Lets time pass in steps of one. */
  pass(ms: number): void {
    for (const end = this.now + ms; this.now < end;) {
      this.now++;
      for (const [handle, { at, f }] of this.#timers) {
        if (at > this.now) continue;
        this.#timers.delete(handle);
        f();
      }
    }
  }
}

Deno.test("Deadline comes once, at its time", () => {
  const clock = new Clock();
  clock.deadline.set(30);
  clock.pass(29);
  assert.deepEqual(clock.due, []);
  clock.pass(100);
  assert.deepEqual(clock.due, [30]);
});

Deno.test("Deadline that was taken back or moved does not come at its old time", () => {
  const clock = new Clock();
  clock.deadline.set(30);
  clock.deadline.set(null);
  clock.pass(50);
  assert.deepEqual(clock.due, []);
  clock.deadline.set(100);
  clock.deadline.set(70);
  clock.pass(10);
  clock.deadline.set(90);
  clock.pass(100);
  assert.deepEqual(clock.due, [90]);
});

Deno.test("Deadline of many short blocks starts few timers", () => {
  const clock = new Clock();
  for (let block = 0; block < 1000; block++) {
    clock.deadline.set(clock.now + 2000);
    clock.pass(1);
    clock.deadline.set(null);
  }
  assert.ok(clock.started <= 2, String(clock.started));
  assert.ok(clock.running <= 1);
  assert.deepEqual(clock.due, []);
});
