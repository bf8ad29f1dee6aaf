import assert from "node:assert/strict";
import { Cancelled, ProviderError } from "../../../src/domain/errors.ts";
import type { ModelEvent, Provider } from "../../../src/providers/provider.ts";
import {
  Router,
  type RouterCallOptions,
  type RouterOptions,
  type RouterReply,
} from "../../../src/providers/router/router.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { type ScriptedProvider, scriptedProvider, type ScriptedReply } from "../../helpers/scripted_provider.ts";

const MESSAGES = [{ role: "user", text: "Hello" }] as const;

function rig(providers: readonly Provider[], options: Partial<RouterOptions> = {}) {
  const clock = new FakeClock();
  const router = new Router({
    routes: providers.map((provider) => ({ provider, model: provider.defaultModel })),
    clock,
    random: () => 1,
    ...options,
  });
  const waits: number[] = [];
  const events: string[] = [];
  const traces: string[] = [];
  const ask = (rest: Partial<RouterCallOptions> = {}): Promise<RouterReply> =>
    router.ask({ messages: MESSAGES, reasoning: "balanced" }, {
      signal: new AbortController().signal,
      onEvent: (event) => events.push(`${event.type}:${event.delta}`) > 0,
      onAttempt: (trace) => void traces.push(`${trace.provider} ${trace.ok ? "ok" : trace.error}`),
      onPause: ({ waitMs }) => void waits.push(waitMs),
      ...rest,
    });
  return { clock, router, ask, waits, events, traces };
}

function named(name: string, replies: readonly ScriptedReply[]): ScriptedProvider {
  return scriptedProvider(replies, { name, model: `${name}-1` });
}

function failing(code: ProviderError["code"], facts: Partial<ProviderError> = {}): ProviderError {
  return new ProviderError(`Cannot do it: ${code}`, { code, retryable: true, ...facts });
}

/** Yields the given events and then hangs; with `deaf`, even after its signal was aborted. */
interface Hanging extends Provider {
  aborted: boolean;
  asked: number;
}

function hanging(events: readonly ModelEvent[], options: { readonly deaf: boolean }): Hanging {
  return {
    ...named("hanging", []),
    name: "hanging",
    defaultModel: "hanging-1",
    capabilities: () => named("hanging", []).capabilities(""),
    aborted: false,
    asked: 0,
    async *stream(request) {
      this.asked++;
      yield* events;
      await new Promise((_, reject) => {
        const stop = () => {
          this.aborted = true;
          if (!options.deaf) reject(new Cancelled("Cancelled"));
        };
        if (request.signal.aborted) stop();
        else request.signal.addEventListener("abort", stop);
      });
    },
  };
}

Deno.test("Router.ask() returns the reply, its usage and its route", async () => {
  const provider = scriptedProvider([{ text: "yes", reasoning: "why", usage: { input: 1_000_000, cached: 500_000 } }], {
    capabilities: { price: { input: 2, output: 8, cached: 0.2 } },
  });
  const { ask, events, clock } = rig([provider]);
  const reply = await ask();
  assert.equal(reply.text, "yes");
  assert.equal(reply.reasoning, "why");
  assert.equal(reply.provider, "scripted");
  assert.equal(reply.model, "script");
  assert.equal(reply.finish, "stop");
  assert.ok(reply.costUsd !== null && Math.abs(reply.costUsd - 1.1) < 0.001);
  assert.deepEqual(events, ["reasoning:why", "text:yes"]);
  assert.deepEqual(reply.attempts, [{
    provider: "scripted",
    model: "script",
    ok: true,
    status: null,
    error: null,
    usage: reply.usage,
    costUsd: reply.costUsd,
    ms: 0,
    repairs: [],
  }]);
  assert.deepEqual(clock.pauses, []);
});

Deno.test("Router.current() is the first route", () => {
  const { router } = rig([named("a", []), named("b", [])]);
  assert.equal(router.current().provider.name, "a");
  assert.equal(router.current().model, "a-1");
  assert.equal(router.current().capabilities.price, null);
  assert.throws(() => new Router({ routes: [] }), /Cannot route/);
});

Deno.test("Router.ask() retries with growing pauses and reports each attempt", async () => {
  const provider = named("a", [failing("server", { status: 503 }), failing("network"), "yes"]);
  const { ask, waits, clock, traces } = rig([provider]);
  const reply = await ask();
  assert.equal(reply.text, "yes");
  assert.deepEqual(waits, [500, 1000]);
  assert.deepEqual(clock.pauses, [500, 1000]);
  assert.deepEqual(traces, ["a Cannot do it: server", "a Cannot do it: network", "a ok"]);
  assert.deepEqual(reply.attempts.map(({ status }) => status), [503, null, null]);
});

Deno.test("Router.ask() counts the attempts that failed after they took something", async () => {
  const price = { input: 1e6, output: 0, cached: 0 };
  const cut = { text: "n", usage: { input: 2, output: 1 }, failAfter: failing("server") };
  const first = scriptedProvider([cut, cut, failing("server")], { name: "a", capabilities: { price } });
  const second = scriptedProvider([{ text: "yes", usage: { input: 3, output: 1 } }], { capabilities: { price } });
  const { ask } = rig([first, second]);
  const { usage, costUsd, attempts } = await ask({ onEvent: () => false });
  assert.deepEqual([usage.input, usage.output, usage.calls, costUsd], [7, 3, 3, 7]);
  assert.deepEqual(attempts.map((one) => one.costUsd), [2, 2, undefined, 3]);
});

Deno.test("Router.ask() ends with the last error once its caller allows no further attempt", async () => {
  const [a, b] = [named("a", [failing("server"), "late"]), named("b", ["late"])];
  const { ask, clock } = rig([a, b]);
  await assert.rejects(ask({ mayRetry: () => false }), /server/);
  assert.deepEqual([a.requests.length, b.requests.length, clock.pauses], [1, 0, []]);
});

Deno.test("Router.ask() spreads its pauses by chance", async () => {
  const { ask, waits } = rig([named("a", [failing("server"), "yes"])], { random: () => 0 });
  await ask();
  assert.deepEqual(waits, [250]);
});

Deno.test("Router.ask() waits as long as the server asks, up to a minute", async () => {
  const { ask, waits } = rig([named("a", [failing("rate", { retryAfterMs: 7000 }), "yes"])]);
  await ask();
  assert.deepEqual(waits, [7100]);

  const long = rig([named("a", [failing("rate", { retryAfterMs: 61_000 })]), named("b", ["other"])]);
  assert.equal((await long.ask()).provider, "b");
  assert.deepEqual(long.waits, []);
});

Deno.test("Router.ask() gives up after three attempts and asks the next provider", async () => {
  const first = named("a", [failing("server"), failing("server"), failing("server"), "never"]);
  const second = named("b", ["yes"]);
  const { ask } = rig([first, second]);
  const reply = await ask();
  assert.equal(reply.provider, "b");
  assert.equal(reply.model, "b-1");
  assert.equal(reply.attempts.length, 4);
  assert.equal(first.remaining, 1);
  assert.equal(second.requests[0]?.model, "b-1");
});

Deno.test("Router.ask() does not repeat a call that cannot succeed", async () => {
  const provider = named("a", [failing("auth", { retryable: false, status: 401 }), "never"]);
  const { ask, waits } = rig([provider]);
  await assert.rejects(ask(), { code: "auth", status: 401 });
  assert.equal(provider.requests.length, 1);
  assert.deepEqual(waits, []);
});

Deno.test("Router.ask() throws the last error when no route answers", async () => {
  const auth = failing("auth", { retryable: false });
  const context = failing("context", { retryable: false });
  await assert.rejects(rig([named("a", [auth]), named("b", [context])]).ask(), context);
});

Deno.test("Router.ask() neither retries nor asks others once a part was shown", async () => {
  const first = named("a", [{ text: "half", failAfter: failing("network") }, "never"]);
  const second = named("b", ["never"]);
  const { ask, events } = rig([first, second]);
  await assert.rejects(ask(), { code: "network" });
  assert.deepEqual(events, ["text:half"]);
  assert.equal(first.requests.length, 1);
  assert.equal(second.requests.length, 0);
});

Deno.test("Router.ask() calls a model that does not begin only once, reports the wait, and has a limit per route", async () => {
  const provider = hanging([], { deaf: false });
  const clock = new FakeClock();
  const router = new Router({ routes: [{ provider, model: "slow", firstTokenMs: 300_000 }], clock });
  const waits: unknown[] = [];
  const asked = router.ask({ messages: MESSAGES, reasoning: "balanced" }, {
    signal: new AbortController().signal,
    onWait: (wait) => waits.push(wait),
  });
  await assert.rejects(asked, {
    code: "stall",
    message: /its first word did not come within 300 s; raise firstTokenMs of its entry in providers \(config\.jsonc\)/,
  });
  assert.deepEqual(
    waits,
    [15, 30, 60, 120, 240].map((seconds) => (
      { model: "slow", waitedMs: seconds * 1000, limitMs: 300_000 }
    )),
  );
  assert.equal(provider.asked, 1);
});

for (const deaf of [false, true]) {
  const how = deaf ? "that ignores its signal" : "that listens";
  Deno.test(`Router.ask() leaves a provider ${how} when no first word comes`, async () => {
    const provider = hanging([], { deaf });
    const { ask, traces, clock } = rig([provider, named("b", ["yes"])], { attempts: 1 });
    const begun = clock.now();
    assert.equal((await ask()).provider, "b");
    assert.equal(
      traces[0],
      "hanging Cannot get a reply from hanging: its first word did not come within 120 s; " +
        "raise firstTokenMs of its entry in providers (config.jsonc)",
    );
    assert.equal(clock.now() - begun, 120_000);
    assert.ok(provider.aborted);
  });

  Deno.test(`Router.ask() leaves a provider ${how} when it falls silent`, async () => {
    const provider = hanging([{ type: "text", delta: "half" }], { deaf });
    const { ask, events } = rig([provider]);
    await assert.rejects(ask(), (error) => {
      assert.ok(error instanceof ProviderError);
      assert.equal(error.code, "stall");
      assert.equal(error.retryable, true);
      assert.match(error.message, /it sent nothing for 60 s; .*silenceMs of its entry in providers/);
      return true;
    });
    assert.deepEqual(events, ["text:half"]);
    assert.ok(provider.aborted);
  });

  Deno.test(`Router.ask() is cancelled at once with a provider ${how}`, async () => {
    const provider = hanging([{ type: "text", delta: "half" }], { deaf });
    const abort = new AbortController();
    const { ask, traces } = rig([provider], { clock: { now: Date.now, sleep: () => new Promise(() => {}) } });
    await assert.rejects(ask({ signal: abort.signal, onEvent: () => [abort.abort()].length > 0 }), Cancelled);
    assert.deepEqual(traces, ["hanging Cancelled: Cancelled"]);
    assert.ok(provider.aborted);
  });
}

Deno.test("Router.ask() does not ask when it is cancelled before", async () => {
  const provider = named("a", ["never"]);
  await assert.rejects(rig([provider]).ask({ signal: AbortSignal.abort() }), Cancelled);
  assert.equal(provider.requests.length, 0);
});

Deno.test("Router.ask() is cancelled while it waits for the next attempt", async () => {
  const provider = named("a", [failing("server"), "never"]);
  const abort = new AbortController();
  const { ask } = rig([provider]);
  await assert.rejects(ask({ signal: abort.signal, onAttempt: () => abort.abort() }), Cancelled);
  assert.equal(provider.requests.length, 1);
});

Deno.test("Router.ask() keeps a slow but steady stream", async () => {
  const clock = new FakeClock();
  const slow: Provider = {
    ...hanging([], { deaf: false }),
    name: "slow",
    async *stream(request) {
      for (let word = 0; word < 10; word++) {
        await clock.sleep(50_000, new AbortController().signal);
        yield { type: "text", delta: `${word}` };
      }
      yield {
        type: "end",
        usage: { input: 1, output: 1, cached: 0, reasoning: 0, calls: 1 },
        model: request.model,
        finish: "stop",
      };
    },
  };
  assert.equal((await rig([slow], { clock }).ask()).text, "0123456789");
});

Deno.test("Router.ask() lets defects through untouched", async () => {
  const defect = new TypeError("x is not a function");
  const { ask, traces } = rig([named("a", [defect, "never"]), named("b", ["never"])]);
  await assert.rejects(ask(), defect);
  assert.deepEqual(traces, ["a TypeError: x is not a function"]);
});

Deno.test("Router.ask() calls a stream without an end a failure", async () => {
  const provider: Provider = { ...hanging([], { deaf: false }), name: "short", async *stream() {} };
  const { ask, traces } = rig([provider]);
  await assert.rejects(ask(), { code: "server" });
  assert.equal(traces.length, 3);
});

Deno.test("Router.ask() leaves no timer behind", async () => {
  const router = new Router({ routes: [{ provider: named("a", ["yes"]), model: "a-1" }] });
  const reply = await router.ask({ messages: MESSAGES, reasoning: "quick" }, { signal: new AbortController().signal });
  assert.equal(reply.text, "yes");
});
