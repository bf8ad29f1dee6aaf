import assert from "node:assert/strict";
import { NO_USAGE } from "../../src/domain/query/model_call.ts";
import type { Usage } from "../../src/domain/query/query_schemas.ts";
import { Ledger } from "../../src/query/limits.ts";
import type { QueryLimits } from "../../src/query/query_settings.ts";

const NONE: QueryLimits = { costUsd: null, tokens: null, wallMs: null };
const LIVE = new AbortController().signal;
const small = { inputTokens: 10, price: null };

function usage(input: number, output = 0): Usage {
  return { ...NO_USAGE, input, output, calls: 1 };
}

/** Returns whether it is pending after all code that can run has run. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(() => settled = true, () => settled = true);
  await new Promise((done) => setTimeout(done, 0));
  return !settled;
}

Deno.test("Ledger adds a child's calls to itself and to everything above it", async () => {
  const root = Ledger.open(NONE, () => 0);
  const [a, b] = [root.child(), root.child()];
  const deep = a.child();
  (await deep.reserve(small, LIVE)).settle({ usage: usage(5, 1), costUsd: 0.5 });
  (await b.reserve(small, LIVE)).settle({ usage: usage(7), costUsd: 0.25 });
  (await root.reserve(small, LIVE)).settle({ usage: usage(1), costUsd: 0.25 });
  assert.deepEqual(deep.spent, { usage: usage(5, 1), costUsd: 0.5 });
  assert.deepEqual(a.spent, deep.spent);
  assert.deepEqual([b.spent.costUsd, root.spent.costUsd, root.spent.usage.input], [0.25, 1, 13]);
});

Deno.test("Ledger: a cost is not known once one call's is not; a failed call costs nothing", async () => {
  const root = Ledger.open(NONE, () => 0);
  (await root.reserve(small, LIVE)).settle({ usage: NO_USAGE, costUsd: 0 });
  assert.equal(root.spent.costUsd, 0);
  (await root.child().reserve(small, LIVE)).settle({ usage: usage(1), costUsd: null });
  (await root.reserve(small, LIVE)).settle({ usage: usage(1), costUsd: 1 });
  assert.equal(root.spent.costUsd, null);
});

Deno.test("Ledger.reserve() makes a call wait for running ones that may use the rest", async () => {
  const root = Ledger.open({ ...NONE, tokens: 100 }, () => 0);
  const [a, b] = [root.child(), root.child()];
  const first = await a.reserve({ inputTokens: 60, price: null }, LIVE);
  const second = b.reserve({ inputTokens: 60, price: null }, LIVE);
  assert.equal(await isPending(second), true);
  first.settle({ usage: usage(30), costUsd: 0 });
  (await second).settle({ usage: usage(80), costUsd: 0 });
  await assert.rejects(a.reserve(small, LIVE), {
    name: "ProviderError",
    message: "Cannot call the model: the request has reached its limit of 100 tokens (110 used)",
  });
  assert.equal(b.reached(), "limit_tokens");
});

Deno.test("Ledger.reserve() refuses waiting calls when the limit is reached meanwhile", async () => {
  const root = Ledger.open({ ...NONE, costUsd: 1 }, () => 0);
  const first = await root.reserve({ inputTokens: 10, price: { input: 1, output: 1, cached: 1 } }, LIVE);
  const waiting = [1, 2, 3].map(() => root.child().reserve(small, LIVE));
  first.settle({ usage: usage(10), costUsd: 1.5 });
  for (const one of waiting) await assert.rejects(one, /reached its cost limit of \$1 \(\$1\.50 spent\)$/);
});

Deno.test("Ledger.reserve() is cancelled while it waits", async () => {
  const root = Ledger.open({ ...NONE, tokens: 10 }, () => 0);
  await root.reserve(small, LIVE);
  const controller = new AbortController();
  const second = root.reserve(small, controller.signal);
  assert.equal(await isPending(second), true);
  controller.abort();
  await assert.rejects(second, { name: "Cancelled" });
});

Deno.test("Ledger: the time of the root is the time of all; a settled call is settled once", async () => {
  let now = 0;
  const root = Ledger.open({ ...NONE, wallMs: 50 }, () => now);
  const child = root.child();
  const call = await child.reserve(small, LIVE);
  call.settle({ usage: usage(1), costUsd: 1 });
  call.settle({ usage: usage(1), costUsd: 1 });
  assert.equal(root.spent.usage.input, 1);
  now = 50;
  await assert.rejects(child.reserve(small, LIVE), /reached its time limit of 0\.05 s$/);
});

Deno.test("Ledger.countSubcall() counts over the whole tree", () => {
  const root = Ledger.open({ ...NONE, subcalls: 2 }, () => 0);
  root.countSubcall("ask");
  root.child().countSubcall("run");
  assert.throws(() => root.child().child().countSubcall("ask"), {
    name: "HostCallError",
    message: /limit of 2 for both together/,
  });
});
