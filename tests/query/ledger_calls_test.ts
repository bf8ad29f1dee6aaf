import assert from "node:assert/strict";
import { ProviderError } from "../../src/domain/errors.ts";
import { Semaphore } from "../../src/domain/kit/concurrency.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { Router } from "../../src/providers/router/router.ts";
import { Ledger, LedgerCalls } from "../../src/query/limits.ts";
import { scriptedProvider } from "../helpers/scripted_provider.ts";
import { until } from "../helpers/until.ts";

const NONE = { costUsd: null, tokens: null, wallMs: null };
const signal = new AbortController().signal;
const request = { messages: [{ role: "user", text: "hello" }], reasoning: "balanced" } as const;

function calls(provider: Provider, options: { readonly model?: string; readonly ledger?: Ledger } = {}) {
  const ledger = options.ledger ?? Ledger.open(NONE, () => 0);
  const gate = new Semaphore(1);
  const router = new Router({ routes: [{ provider, model: "root" }, { provider, model: "other" }], attempts: 1 });
  return { ledger, gate, calls: new LedgerCalls(router, { ledger, gate, model: options.model ?? null }) };
}

Deno.test("LedgerCalls.ask() settles the usage of a call, and none for a failed one", async () => {
  const refused = new ProviderError("Cannot", { code: "refused", retryable: false });
  const provider = scriptedProvider([{ text: "hi", usage: { input: 5, output: 2 } }, refused, refused], {
    capabilities: { price: { input: 1e6, output: 0, cached: 0 } },
  });
  const { ledger, gate, calls: own } = calls(provider);
  assert.equal((await own.ask(request, { signal })).text, "hi");
  await assert.rejects(own.ask(request, { signal }), { name: "ProviderError" });
  assert.deepEqual([ledger.spent.usage.input, ledger.spent.costUsd, gate.open], [5, 5, 0]);
});

Deno.test("LedgerCalls.ask() counts attempts that broke off, and makes no more of them than the limit allows", async () => {
  const price = { input: 1e6, output: 0, cached: 0 };
  const failAfter = new ProviderError("Cannot", { code: "server", retryable: true, status: 503 });
  const cut = { text: "n", usage: { input: 2, output: 1 }, failAfter };
  const provider = scriptedProvider([], { otherwise: cut, capabilities: { price } });
  const ledger = Ledger.open({ ...NONE, costUsd: 3 }, () => 0);
  const router = new Router({ routes: [{ provider, model: "root" }, { provider, model: "other" }], attempts: 1 });
  const own = new LedgerCalls(router, { ledger });
  await assert.rejects(
    own.ask(request, { signal }),
    /^ProviderError: Cannot call the model: the request has reached its cost limit of \$\S+ \(\$\S+ spent\)/,
  );
  assert.deepEqual([provider.requests.length, ledger.spent.costUsd, ledger.spent.usage.calls], [2, 4, 2]);
});

Deno.test("LedgerCalls.ask() counts a call that was cancelled", async () => {
  const endless = { text: "", delayMs: 60_000, usage: { input: 5, output: 1 } };
  const provider = scriptedProvider([endless], { capabilities: { price: { input: 1e6, output: 0, cached: 0 } } });
  const { ledger, calls: own } = calls(provider);
  const gone = new AbortController();
  const asked = own.ask(request, { signal: gone.signal });
  await until(() => provider.requests.length > 0);
  gone.abort();
  await assert.rejects(asked, { name: "Cancelled" });
  assert.deepEqual([ledger.spent.usage.input, ledger.spent.costUsd], [5, 5]);
});

Deno.test("LedgerCalls asks the model that a call names, or else the model of its query", async () => {
  const provider = scriptedProvider(["1", "2", "3"]);
  const { calls: own } = calls(provider, { model: "other" });
  assert.equal(own.current().model, "other");
  await own.ask(request, { signal });
  await own.ask({ ...request, model: "third" }, { signal });
  const preferring = calls(provider, { model: "cost" }).calls;
  assert.equal(preferring.current().model, "root");
  await preferring.ask(request, { signal });
  assert.deepEqual(provider.requests.slice(0, 2).map(({ model }) => model), ["other", "third"]);
  assert.notEqual(provider.requests[2]?.model, "cost");
});

Deno.test("LedgerCalls: a call that waits for the ledger holds no place, and a call cancelled at the gate reserves nothing", async () => {
  const provider = scriptedProvider([], { otherwise: { text: "ok", delayMs: 20, usage: { input: 40, output: 0 } } });
  const ledger = Ledger.open({ ...NONE, tokens: 100 }, () => 0);
  const { calls: own, gate } = calls(provider, { ledger });
  const controller = new AbortController();
  const first = own.ask(request, { signal });
  const waiting = own.ask(request, { signal: controller.signal });
  await Promise.resolve();
  assert.equal(gate.open, 1);
  controller.abort();
  await assert.rejects(waiting, { name: "Cancelled" });
  await first;
  await own.ask(request, { signal });
  await own.ask(request, { signal });
  await assert.rejects(own.ask(request, { signal }), /reached its limit of 100 tokens/);
  assert.equal(ledger.spent.usage.calls, 3);
});
