import assert from "node:assert/strict";
import { Lock } from "../../src/conversation/lock.ts";

Deno.test("Lock runs one after the other, in order of asking, also after one that fails", async () => {
  const lock = new Lock();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = lock.run(async () => {
    log.push("a");
    await gate.promise;
    log.push("a done");
    return 1;
  });
  const second = lock.run(() => {
    log.push("b");
    return Promise.reject(new Error("b fails"));
  });
  const third = lock.run(() => Promise.resolve(void log.push("c")));
  assert.equal(lock.busy, true);
  await Promise.resolve();
  assert.deepEqual(log, ["a"]);
  gate.resolve();
  assert.equal(await first, 1);
  await assert.rejects(second, /b fails/);
  await third;
  assert.deepEqual([log, lock.busy], [["a", "a done", "b", "c"], false]);
});
