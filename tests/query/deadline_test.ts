import assert from "node:assert/strict";
import { QueryDeadline } from "../../src/query/deadline.ts";

Deno.test("Deadline ends when the time is over, and says that it was not the caller", async () => {
  const deadline = new QueryDeadline(new AbortController().signal, 5);
  assert.equal(deadline.passed, false);
  await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
  assert.equal(deadline.passed, true);
  deadline.close();
});

Deno.test("Deadline ends with the caller, who is not late then", () => {
  const caller = new AbortController();
  const deadline = new QueryDeadline(caller.signal, 60_000);
  caller.abort();
  assert.deepEqual([deadline.signal.aborted, deadline.passed], [true, false]);
  deadline.close();
});

Deno.test("Deadline without a limit is the caller's own signal, one beyond every timer as well", () => {
  const { signal } = new AbortController();
  for (const limit of [null, 2 ** 40]) assert.equal(new QueryDeadline(signal, limit).signal, signal);
});
