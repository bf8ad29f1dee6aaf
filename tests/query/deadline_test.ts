import assert from "node:assert/strict";
import { QueryDeadline } from "../../src/query/limits.ts";

Deno.test("Deadline ends when the time is over, and distinguishes that from the caller's signal", async () => {
  const deadline = new QueryDeadline(new AbortController().signal, { wallMs: 5 });
  assert.equal(deadline.passed, false);
  await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
  assert.equal(deadline.passed, true);
  deadline.close();
});

Deno.test("Deadline ends with the caller, who is not late then", () => {
  const caller = new AbortController();
  const deadline = new QueryDeadline(caller.signal, { wallMs: 60_000 });
  caller.abort();
  assert.deepEqual([deadline.signal.aborted, deadline.passed], [true, false]);
  deadline.close();
});

Deno.test("Deadline without a limit is the caller's own signal, one beyond every timer as well", () => {
  const { signal } = new AbortController();
  for (const limit of [null, 2 ** 40]) assert.equal(new QueryDeadline(signal, { wallMs: limit }).signal, signal);
});

Deno.test("Deadline stops while it is held, by one or by several", async () => {
  let now = 0;
  const deadline = new QueryDeadline(new AbortController().signal, { wallMs: 60_000, now: () => now });
  now = 1_000;
  const { promise: first, resolve: endFirst } = Promise.withResolvers<void>();
  const { promise: second, resolve: endSecond } = Promise.withResolvers<void>();
  const held = [deadline.held(() => first), deadline.held(() => second)];
  now = 500_000;
  endFirst();
  await held[0];
  assert.equal(deadline.elapsedMs, 1_000);
  now = 900_000;
  endSecond();
  await held[1];
  now = 901_000;
  assert.deepEqual([deadline.elapsedMs, deadline.passed], [2_000, false]);
  deadline.close();
});

Deno.test("Deadline that was held ends after the rest of its time", async () => {
  const deadline = new QueryDeadline(new AbortController().signal, { wallMs: 20 });
  await deadline.held(() => new Promise((resolve) => setTimeout(resolve, 60)));
  assert.equal(deadline.passed, false);
  await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
  assert.equal(deadline.passed, true);
  // A holder that keeps it longer than its creator leaves no timer behind.
  const closed = new QueryDeadline(new AbortController().signal, { wallMs: 60_000 });
  const late = closed.held(() => Promise.resolve());
  closed.close();
  await late;
});
