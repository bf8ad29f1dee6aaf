import assert from "node:assert/strict";
import { LeaseKeeper } from "../../src/conversation/lease_keeper.ts";

Deno.test("LeaseKeeper renews while a query runs, goes on after a failure, and stops with the last one", async () => {
  let renewed = 0;
  const twice = Promise.withResolvers<void>();
  const keeper = new LeaseKeeper(() => {
    if (++renewed === 3) twice.resolve();
    return renewed === 1 ? Promise.reject(new Error("locked")) : Promise.resolve();
  }, { everyMs: 1 });
  keeper.begin();
  keeper.begin();
  keeper.end();
  await twice.promise;
  keeper.end();
  const before = renewed;
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(renewed, before);
});
