import assert from "node:assert/strict";
import { together } from "../../../src/domain/kit/together.ts";

Deno.test("together() gives all results in their order", async () => {
  assert.deepEqual(await together([Promise.resolve(1), "two", null]), [1, "two", null]);
});

Deno.test("together() waits for all of them before it throws the first error", async () => {
  const slow = Promise.withResolvers<number>();
  let ended = false;
  const all = together([slow.promise.finally(() => ended = true), Promise.reject(new Error("early"))]);
  const thrown = assert.rejects(all, () => ended);
  slow.resolve(1);
  await thrown;
});
