import assert from "node:assert/strict";
import { Cancelled, ProviderError } from "../../../src/domain/errors.ts";
import { NO_USAGE } from "../../../src/domain/query/model_call.ts";
import type { ModelEvent, ModelRequest, Provider } from "../../../src/providers/provider.ts";
import {
  type Pause,
  Router,
  type RouterCallOptions,
  type RouterOptions,
  type RouterReply,
} from "../../../src/providers/router/router.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { type ScriptedProvider, scriptedProvider, type ScriptedReply } from "../../helpers/scripted_provider.ts";

const MINUTE = 60_000;

function rig(routes: (clock: FakeClock) => readonly Provider[], options: Partial<RouterOptions> = {}) {
  const clock = new FakeClock();
  const begun = clock.now();
  const warned: unknown[] = [];
  const router = new Router({
    routes: routes(clock).map((provider) => ({ provider, model: provider.defaultModel })),
    clock,
    random: () => 1,
    log: { warn: (event, data) => void warned.push([event, data]) },
    ...options,
  });
  const pauses: Pause[] = [];
  const ask = (rest: Partial<RouterCallOptions> = {}): Promise<RouterReply> =>
    router.ask({ messages: [{ role: "user", text: "Hello" }], reasoning: "balanced" }, {
      signal: new AbortController().signal,
      onPause: (pause) => void pauses.push(pause),
      ...rest,
    });
  return { clock, router, ask, pauses, warned, elapsed: () => clock.now() - begun };
}

function named(name: string, replies: readonly ScriptedReply[] = [], otherwise?: ScriptedReply): ScriptedProvider {
  return scriptedProvider(replies, { name, model: `${name}-1`, ...(otherwise === undefined ? {} : { otherwise }) });
}

function failing(facts: Partial<ProviderError> & Pick<ProviderError, "code">): ProviderError {
  return new ProviderError(`Cannot do it: ${facts.code} ${facts.status ?? ""}`, { retryable: true, ...facts });
}

const REFUSED = failing({ code: "network" });
const UNAVAILABLE = failing({ code: "server", status: 503 });
const TOO_MANY = failing({ code: "rate", status: 429, brief: "rate limit" });
const NO_KEY = failing({ code: "auth", status: 401, retryable: false });

/** Answers, then fails from the beginning of an outage to its end. */
function outage(
  clock: FakeClock,
  { error, ms }: { readonly error: ProviderError; readonly ms: number },
): ScriptedProvider {
  const until = clock.now() + ms;
  let calls = 0;
  return named("out", [], () => ++calls > 1 && clock.now() < until ? error : "well");
}

function paced(clock: FakeClock, { events, ms }: {
  readonly events: Iterable<ModelEvent>;
  readonly ms: number;
}): Provider {
  return {
    ...named("paced"),
    name: "paced",
    defaultModel: "paced-1",
    capabilities: () => named("x").capabilities(""),
    async *stream({ signal }: ModelRequest) {
      for (const event of events) {
        await clock.sleep(ms, signal);
        yield event;
      }
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Cancelled("Cancelled"))));
    },
  };
}

for (const error of [REFUSED, UNAVAILABLE, TOO_MANY]) {
  Deno.test(`Router.ask() outlasts an outage of a minute: ${error.message}`, async () => {
    const { ask, pauses, elapsed } = rig((clock) => [outage(clock, { error, ms: MINUTE })]);
    await ask();
    assert.equal((await ask()).text, "well");
    assert.ok(elapsed() >= MINUTE && elapsed() < 3 * MINUTE, `${elapsed()}`);
    assert.deepEqual(pauses.map(({ waitMs }) => waitMs).slice(0, 3), [500, 1000, 2000]);
    assert.ok(pauses.every(({ waitMs }) => waitMs <= 1.2 * MINUTE));
    assert.ok(pauses.every(({ reason }) => reason === error.brief));
    assert.deepEqual(pauses.map(({ attempt }) => attempt).slice(0, 3), [2, 3, 4]);
  });
}

Deno.test("Router.ask() is patient for five minutes, then throws the service's last error", async () => {
  const { ask, pauses, elapsed } = rig((clock) => [outage(clock, { error: UNAVAILABLE, ms: Infinity })]);
  await ask();
  await assert.rejects(ask(), UNAVAILABLE);
  assert.ok(elapsed() > 3 * MINUTE && elapsed() <= 5 * MINUTE + 2000, `${elapsed()}`);
  assert.ok(pauses.length < 20);
});

Deno.test("Router.ask() with probes tries a service at once, even if its breaker is open", async () => {
  const service = named("back", [...Array.from({ length: 5 }, () => UNAVAILABLE), "well"], UNAVAILABLE);
  const { ask, elapsed, pauses } = rig(() => [service], { attempts: 5, patienceMs: 0 });
  await assert.rejects(ask(), UNAVAILABLE);
  const before = elapsed();
  assert.equal((await ask({ probes: true })).text, "well");
  assert.equal(elapsed(), before);
  assert.equal(pauses.length, 4);
});

Deno.test("Router.ask() with probes waits for the time that the service named", async () => {
  const later = failing({ code: "rate", status: 429, retryAfterMs: 10 * MINUTE });
  const service = named("busy", [], later);
  const { ask } = rig(() => [service], { patienceMs: 0 });
  for (let count = 0; count < 8; count++) await assert.rejects(ask({ probes: true }));
  assert.equal(service.requests.length, 5);
});

Deno.test("Router.ask() has the patience that is set", async () => {
  const impatient = rig((clock) => [outage(clock, { error: UNAVAILABLE, ms: MINUTE })], { patienceMs: 0 });
  await impatient.ask();
  await assert.rejects(impatient.ask(), UNAVAILABLE);
  assert.deepEqual(impatient.pauses.map(({ waitMs }) => waitMs), [500, 1000]);
  const patient = rig((clock) => [outage(clock, { error: UNAVAILABLE, ms: 30 * MINUTE })], { patienceMs: 40 * MINUTE });
  await patient.ask();
  assert.equal((await patient.ask()).text, "well");
});

Deno.test("Router.ask() does not wait for a service that never answered, whose address may be wrong", async () => {
  const { ask, pauses } = rig(() => [named("wrong", [], REFUSED)]);
  await assert.rejects(ask(), REFUSED);
  assert.equal(pauses.length, 2);
  // An answer of any kind shows that the service is there.
  const first = rig(() => [named("busy", [UNAVAILABLE, REFUSED, REFUSED, REFUSED, "well"])]);
  assert.equal((await first.ask()).text, "well");
});

Deno.test("Router.ask() does not wait for a lasting failure", async () => {
  for (
    const error of [NO_KEY, failing({ code: "server", status: null }), failing({ code: "reply", retryable: false })]
  ) {
    const { ask, pauses } = rig(() => [named("a", ["well"], error)]);
    await ask();
    await assert.rejects(ask(), error);
    assert.equal(pauses.length, error.retryable ? 2 : 0, error.message);
  }
});

Deno.test("Router.ask() waits only for routes whose failure may pass", async () => {
  const locked = named("locked", [], NO_KEY);
  const busy = named("busy", [...Array.from({ length: 4 }, () => TOO_MANY), "well"]);
  const { ask } = rig(() => [locked, busy]);
  assert.equal((await ask()).provider, "busy");
  assert.equal(locked.requests.length, 1);
});

Deno.test("Router.ask() asks all routes again, the first one first", async () => {
  const [a, b] = [named("a", [...Array.from({ length: 3 }, () => TOO_MANY), "well"]), named("b", [], UNAVAILABLE)];
  const { ask } = rig(() => [a, b]);
  const { provider, attempts } = await ask();
  assert.equal(provider, "a");
  assert.deepEqual(attempts.map(({ provider }) => provider).join(""), "aaabbba");
});

Deno.test("Router.ask() waits as long as the service asks, as far as patience goes", async () => {
  const long = failing({ code: "rate", status: 429, retryAfterMs: 200_000 });
  const { ask, pauses } = rig(() => [named("a", [long, "well"])]);
  assert.equal((await ask()).text, "well");
  assert.deepEqual(pauses.map(({ waitMs }) => waitMs), [200_400]);
  const day = failing({ code: "rate", status: 429, retryAfterMs: 86_400_000 });
  const tired = rig(() => [named("a", [day, "never"])]);
  await assert.rejects(tired.ask(), day);
  assert.deepEqual(tired.pauses, []);
});

Deno.test("Router.ask() is cancelled in the middle of its patience", async () => {
  const abort = new AbortController();
  const { ask } = rig((clock) => [outage(clock, { error: REFUSED, ms: Infinity })]);
  await ask();
  const onPause = ({ attempt }: Pause): void => {
    if (attempt === 5) abort.abort();
  };
  await assert.rejects(ask({ signal: abort.signal, onPause }), Cancelled);
});

Deno.test("Router.ask() waits for an open breaker, and few of many callers ask a service that is out", async () => {
  const asked: ScriptedProvider[] = [];
  const { ask, elapsed } = rig((clock) => {
    asked.push(outage(clock, { error: UNAVAILABLE, ms: MINUTE }));
    return asked;
  });
  await ask();
  const replies = await Promise.all(Array.from({ length: 50 }, () => ask()));
  assert.ok(replies.every(({ text }) => text === "well"));
  assert.ok(elapsed() < 4 * MINUTE, `${elapsed()}`);
  // Every route was called once before the breaker opened. Then one call tries for all.
  const calls = asked[0]?.requests.length ?? 0;
  assert.ok(calls < 115, `${calls}`);
});

Deno.test("Router.ask() asks again for a reply that broke off where nothing of it was shown", async () => {
  const half = { text: "half", failAfter: REFUSED };
  const { ask } = rig(() => [named("a", [half, half, "whole"])]);
  const seen: string[] = [];
  const reply = await ask({ onEvent: ({ delta }) => seen.push(delta) < 0 });
  assert.equal(reply.text, "whole");
  assert.deepEqual(seen, ["half", "half", "whole"]);
  const other = rig(() => [named("b", [half, "never"]), named("c", ["never"])]);
  await assert.rejects(other.ask({ onEvent: () => true }), REFUSED);
});

Deno.test("Router.ask() names the limit that ended a reply, which took that long", async () => {
  const word: ModelEvent = { type: "text", delta: "word" };
  const silent = rig((clock) => [paced(clock, { events: [word, word], ms: 1000 })]);
  await assert.rejects(
    silent.ask({ onEvent: () => true }),
    /it sent nothing for 60 s; .*silenceMs of its entry in providers/,
  );
  assert.equal(silent.elapsed(), 2000 + MINUTE);
  const mute = rig((clock) => [paced(clock, { events: [], ms: 0 })], { attempts: 1 });
  await assert.rejects(mute.ask(), /its first word did not come within 120 s/);
  assert.equal(mute.elapsed(), 2 * MINUTE);
});

/** A model that thinks while its service sends signs of life, before its first word or after it. */
function alive(clock: FakeClock, { begins, ms, times }: {
  readonly begins: boolean;
  readonly ms: number;
  readonly times: number;
}): Provider {
  return {
    ...paced(clock, { events: [], ms: 0 }),
    async *stream({ signal, onBytes }: ModelRequest): AsyncGenerator<ModelEvent> {
      if (begins) yield { type: "reasoning", delta: "hm" };
      for (let time = 0; time < times; time++) {
        await clock.sleep(ms, signal);
        onBytes?.();
      }
      yield { type: "text", delta: "well" };
      yield { type: "end", usage: NO_USAGE, model: "m", finish: "stop" };
    },
  };
}

Deno.test("Router.ask() waits for a model whose service sends anything at all", async () => {
  for (const begins of [false, true]) {
    const { ask, elapsed } = rig((clock) => [alive(clock, { begins, ms: 50_000, times: 20 })]);
    assert.equal((await ask({ onEvent: () => true })).text, "well");
    assert.equal(elapsed(), 20 * 50_000);
  }
});

Deno.test("Router.ask() gives up a service that sends signs of life and no end", async () => {
  const waits: number[] = [];
  const { ask, elapsed } = rig((clock) => [alive(clock, { begins: false, ms: 50_000, times: Infinity })]);
  await assert.rejects(ask({ onWait: ({ limitMs }) => waits.push(limitMs) }), { code: "reply" });
  assert.equal(elapsed(), 60 * MINUTE);
  // The rest of the limit counts from the last sign of life, and ends with the time of a reply.
  assert.ok(waits.every((limit, at) => limit >= (waits[at - 1] ?? 2 * MINUTE)), waits.join());
  assert.ok((waits.at(-1) ?? 0) <= 60 * MINUTE);
});

Deno.test("Router.ask() waits for as much silence as the route permits", async () => {
  const word: ModelEvent = { type: "text", delta: "word" };
  const clock = new FakeClock();
  const begun = clock.now();
  const router = new Router({
    routes: [{ provider: paced(clock, { events: [word], ms: 0 }), model: "m", silenceMs: 5 * MINUTE }],
    clock,
  });
  const asked = router.ask({ messages: [], reasoning: "balanced" }, {
    signal: new AbortController().signal,
    onEvent: () => true,
  });
  await assert.rejects(
    asked,
    /it sent nothing for 300 s; try again, choose another model, or raise silenceMs of its entry in providers \(config\.jsonc\)/,
  );
  assert.equal(clock.now() - begun, 5 * MINUTE);
});

Deno.test("Router.ask() ends a reply that comes slowly and has no end", async () => {
  const words = function* (): Generator<ModelEvent> {
    while (true) yield { type: "text", delta: "word " };
  };
  const { ask, elapsed, pauses } = rig((clock) => [paced(clock, { events: words(), ms: 50_000 })]);
  await assert.rejects(ask(), {
    code: "reply",
    message: /^Cannot use the reply of paced: it did not end within 60 min/,
  });
  assert.deepEqual([elapsed(), pauses], [60 * MINUTE, []]);
});

Deno.test("Router.ask() logs missing counts", async () => {
  const end: ModelEvent = { type: "end", usage: NO_USAGE, model: "m", finish: "stop", oddities: ["input: -5"] };
  const { ask, warned } = rig((clock) => [paced(clock, { events: [end], ms: 0 })]);
  await ask();
  assert.deepEqual(warned, [["usage_left_out", { provider: "paced", model: "paced-1", counts: ["input: -5"] }]]);
});

Deno.test("a model that the user chooses meanwhile gets the failed call at once, even during a long pause", async () => {
  for (const error of [TOO_MANY, NO_KEY]) {
    const { clock, router, ask } = rig(() => [named("bad", [], error)]);
    const other = new Router({ routes: [{ provider: named("good", ["well"]), model: "good-1" }], clock });
    let tries = 0;
    const become = (): void => {
      if (++tries === 2 || error === NO_KEY) router.become(other);
    };
    const reply = await ask({ onPause: become, onAttempt: error === NO_KEY ? become : () => {} });
    assert.deepEqual([reply.text, reply.attempts.at(-1)?.model], ["well", "good-1"]);
    assert.equal(reply.attempts.length, error === NO_KEY ? 2 : 3);
  }
});

Deno.test("a model that the user chooses during a pause between rounds gets the next call", async () => {
  const { clock, router, ask } = rig(() => [named("bad", [], TOO_MANY)]);
  const other = new Router({ routes: [{ provider: named("good", ["well"]), model: "good-1" }], clock });
  let pauses = 0;
  const reply = await ask({ onPause: () => void (++pauses === 4 && router.become(other)) });
  assert.deepEqual([reply.text, reply.attempts.map(({ provider }) => provider)], [
    "well",
    ["bad", "bad", "bad", "bad", "good"],
  ]);
});

Deno.test("a call with its own model keeps its pauses after the user chose another model", async () => {
  const { clock, router } = rig(() => [named("bad", [], TOO_MANY)]);
  const other = new Router({ routes: [{ provider: named("good", ["well"]), model: "good-1" }], clock });
  const begun = clock.now(), { signal } = new AbortController();
  const asked = router.ask({ messages: [], reasoning: "balanced", model: "bad-1" }, {
    signal,
    onPause: () => router.become(other),
  });
  await assert.rejects(asked);
  assert.ok(clock.now() - begun > MINUTE);
});
