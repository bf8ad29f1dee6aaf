import assert from "node:assert/strict";
import { Gate } from "../../src/query/subcalls_gate.ts";

const LIVE = new AbortController().signal;

Deno.test("Gate.use() lets as many in as there are places, in order, and gives places back after failures", async () => {
  const gate = new Gate(2);
  const order: number[] = [];
  let open = 0, most = 0;
  const work = (n: number) => async (): Promise<number> => {
    order.push(n);
    most = Math.max(most, ++open);
    await new Promise((done) => setTimeout(done, 1));
    open--;
    if (n === 1) throw new Error("one fails");
    return n;
  };
  const all = await Promise.allSettled([0, 1, 2, 3, 4].map((n) => gate.use(work(n), LIVE)));
  assert.deepEqual(all.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"]);
  assert.deepEqual([order, most, gate.open], [[0, 1, 2, 3, 4], 2, 0]);
});

Deno.test("Gate.use() forgets who gave up waiting", async () => {
  const gate = new Gate(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = gate.use(() => promise, LIVE);
  const controller = new AbortController();
  let ran = false;
  const second = gate.use(() => Promise.resolve(ran = true), controller.signal);
  const third = gate.use(() => Promise.resolve("third"), LIVE);
  controller.abort();
  await assert.rejects(second, { name: "Cancelled" });
  resolve();
  await first;
  assert.equal(await third, "third");
  assert.equal(ran, false);
  await assert.rejects(gate.use(() => Promise.resolve(), controller.signal), { name: "Cancelled" });
  assert.equal(gate.open, 0);
});
