import { abortable, aborted, Semaphore, together } from "../../../src/domain/kit/concurrency.ts";
import assert from "node:assert/strict";

const LIVE = new AbortController().signal;

Deno.test("Semaphore.run() lets as many in as there are places, in order, and gives places back after failures", async () => {
  const gate = new Semaphore(2);
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
  const all = await Promise.allSettled([0, 1, 2, 3, 4].map((n) => gate.run(work(n), LIVE)));
  assert.deepEqual(all.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"]);
  assert.deepEqual([order, most, gate.open], [[0, 1, 2, 3, 4], 2, 0]);
});

Deno.test("Semaphore.run() forgets callers that gave up waiting", async () => {
  const gate = new Semaphore(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = gate.run(() => promise, LIVE);
  const controller = new AbortController();
  let ran = false;
  const second = gate.run(() => Promise.resolve(ran = true), controller.signal);
  const third = gate.run(() => Promise.resolve("third"), LIVE);
  controller.abort();
  await assert.rejects(second, { name: "Cancelled" });
  resolve();
  await first;
  assert.equal(await third, "third");
  assert.equal(ran, false);
  await assert.rejects(gate.run(() => Promise.resolve(), controller.signal), { name: "Cancelled" });
  assert.equal(gate.open, 0);
});

Deno.test("Semaphore of one is a mutex: in order of asking, taken at once, freed on failure", async () => {
  const mutex = new Semaphore();
  const log: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = mutex.run(() => (log.push("a"), promise));
  const second = mutex.run(() => (log.push("b"), Promise.reject(new Error("b fails"))));
  const third = mutex.run(() => Promise.resolve(void log.push("c")));
  assert.equal(mutex.open, 1);
  await Promise.resolve();
  assert.deepEqual(log, ["a"]);
  resolve();
  await first;
  await assert.rejects(second, /b fails/);
  await third;
  assert.deepEqual([log, mutex.open], [["a", "b", "c"], 0]);
});

Deno.test("Semaphore starts nothing for a caller that gave up in the moment of its turn", async () => {
  const slots = new Semaphore(1, () => new RangeError("Gone"));
  const controller = new AbortController();
  await slots.acquire();
  let ran = false;
  const second = slots.run(() => Promise.resolve(ran = true), controller.signal);
  slots.release();
  controller.abort();
  await assert.rejects(second, RangeError);
  assert.deepEqual([ran, slots.open], [false, 0]);
});

const turn = (): Promise<void> => new Promise((done) => setTimeout(done, 0));

Deno.test("Semaphore.run() admits work in order while its amount fits, and larger work alone", async () => {
  const amounts = new Semaphore(10);
  const begun: string[] = [];
  const held = new Map<string, () => void>();
  const work = (name: string) => (): Promise<void> => {
    begun.push(name);
    return new Promise((resolve) => held.set(name, resolve));
  };
  const all = [["a", 6], ["b", 4], ["huge", 99], ["c", 1]].map(([name, amount]) =>
    amounts.runAmount(Number(amount), { work: work(String(name)), signal: undefined })
  );
  await turn();
  assert.deepEqual([begun.join(), amounts.open], ["a,b", 10]);
  held.get("a")?.();
  await turn();
  assert.equal(begun.join(), "a,b", "a small one does not overtake");
  held.get("b")?.();
  await turn();
  assert.deepEqual([begun.join(), amounts.open], ["a,b,huge", 10]);
  held.get("huge")?.();
  await turn();
  held.get("c")?.();
  await Promise.all(all);
  assert.deepEqual([begun.join(), amounts.open], ["a,b,huge,c", 0]);
});

Deno.test("Semaphore.run() returns the amounts of callers that gave up waiting, and of failures", async () => {
  const amounts = new Semaphore(2);
  const first = Promise.withResolvers<void>();
  const running = amounts.run(() => first.promise);
  const giveUp = new AbortController();
  const large = amounts.runAmount(2, { work: () => Promise.reject(new Error("never runs")), signal: giveUp.signal });
  const small = amounts.run(() => Promise.reject(new Error("fails")));
  giveUp.abort();
  await assert.rejects(large, { name: "Cancelled" });
  await assert.rejects(small, { message: "fails" });
  first.resolve();
  await running;
  assert.equal(amounts.open, 0);
});

Deno.test("abortable() settles with the first of the work and the signal's reason", async () => {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = abortable(promise, controller.signal);
  const second = abortable(promise, undefined);
  controller.abort(new RangeError("Too late"));
  await assert.rejects(first, RangeError);
  await assert.rejects(abortable(promise, controller.signal), RangeError);
  resolve("done");
  assert.equal(await second, "done");
  assert.equal(await abortable(promise, new AbortController().signal), "done");
  await assert.rejects(abortable(Promise.reject(new TypeError("No")), new AbortController().signal), TypeError);
});

Deno.test("aborted() resolves with the signal, also where it is aborted already", async () => {
  const controller = new AbortController();
  let done = false;
  const waiting = aborted(controller.signal).then(() => done = true);
  await Promise.resolve();
  assert.equal(done, false);
  controller.abort();
  await waiting;
  await aborted(controller.signal);
});

Deno.test("together() returns all results in their order", async () => {
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
