import assert from "node:assert/strict";
import { settledWithin } from "../../../src/domain/kit/settled_within.ts";

Deno.test("settledWithin() says whether work has settled in time, and leaves no timer", async () => {
  assert.equal(await settledWithin(Promise.resolve(), 100_000), true);
  assert.equal(await settledWithin(Promise.reject(new Error("No")), 100_000), true);
  assert.equal(await settledWithin(new Promise(() => {}), 0), false);
});
