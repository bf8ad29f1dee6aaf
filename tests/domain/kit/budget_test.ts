import assert from "node:assert/strict";
import { Budget } from "../../../src/domain/kit/budget.ts";

const turn = (): Promise<void> => new Promise((done) => setTimeout(done, 0));

Deno.test("Budget.run() lets work in while it fits, in order, and what is larger than all of it alone", async () => {
  const budget = new Budget(10);
  const begun: string[] = [];
  const held = new Map<string, () => void>();
  const work = (name: string) => (): Promise<void> => {
    begun.push(name);
    return new Promise((resolve) => held.set(name, resolve));
  };
  const all = [["a", 6], ["b", 4], ["huge", 99], ["c", 1]].map(([name, amount]) =>
    budget.run(Number(amount), work(String(name)))
  );
  await turn();
  assert.deepEqual([begun.join(), budget.held], ["a,b", 10]);
  held.get("a")?.();
  await turn();
  assert.equal(begun.join(), "a,b", "a small one does not overtake");
  held.get("b")?.();
  await turn();
  assert.deepEqual([begun.join(), budget.held], ["a,b,huge", 10]);
  held.get("huge")?.();
  await turn();
  held.get("c")?.();
  await Promise.all(all);
  assert.deepEqual([begun.join(), budget.held], ["a,b,huge,c", 0]);
});

Deno.test("Budget.run() forgets who gave up waiting, and gives back after failures", async () => {
  const budget = new Budget(2);
  const first = Promise.withResolvers<void>();
  const running = budget.run(1, () => first.promise);
  const giveUp = new AbortController();
  const large = budget.run(2, () => Promise.reject(new Error("never runs")), giveUp.signal);
  const small = budget.run(1, () => Promise.reject(new Error("fails")));
  giveUp.abort();
  await assert.rejects(large, { name: "Cancelled" });
  await assert.rejects(small, { message: "fails" });
  first.resolve();
  await running;
  assert.equal(budget.held, 0);
});
