import assert from "node:assert/strict";
import { LeaseKeeper } from "../../src/conversation/query_runner.ts";

const kept = (): never => assert.fail("its lease is there");

Deno.test("LeaseKeeper renews while a query runs, after a failure as well, and stops with the last one", async () => {
  let renewed = 0;
  const twice = Promise.withResolvers<void>();
  const keeper = new LeaseKeeper(() => {
    if (++renewed === 3) twice.resolve();
    return renewed === 1 ? Promise.reject(new Error("locked")) : Promise.resolve(["a", "b"]);
  }, { everyMs: 1 });
  keeper.begin("a", kept);
  keeper.begin("b", kept);
  keeper.end("a");
  await twice.promise;
  keeper.end("b");
  const before = renewed;
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(renewed, before);
});

Deno.test("LeaseKeeper notifies the query whose lease is gone, and none that began while it asked", async () => {
  const told: string[] = [];
  const lost = Promise.withResolvers<void>();
  const keeper: LeaseKeeper = new LeaseKeeper(() => {
    if (told.length === 0) keeper.begin("young", kept);
    return Promise.resolve(told.length === 0 ? ["held"] : ["held", "young"]);
  }, { everyMs: 1 });
  keeper.begin("held", kept);
  keeper.begin("taken", () => {
    told.push("taken");
    keeper.end("taken");
    lost.resolve();
  });
  await lost.promise;
  assert.deepEqual(told, ["taken"]);
  for (const branchId of ["held", "young"]) keeper.end(branchId);
});
