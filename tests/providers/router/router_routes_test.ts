import assert from "node:assert/strict";
import { ProviderError } from "../../../src/domain/errors.ts";
import type { Capabilities, ModelMessage } from "../../../src/providers/provider.ts";
import { Router, type RouterOptions, type RouterRequest } from "../../../src/providers/router/router.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { type ScriptedProvider, scriptedProvider, type ScriptedReply } from "../../helpers/scripted_provider.ts";

const IMAGE = { kind: "url", url: "https://example.org/a.png" } as const;

function named(
  name: string,
  replies: readonly ScriptedReply[] = [],
  rest: { readonly capabilities?: Partial<Capabilities>; readonly otherwise?: ScriptedReply } = {},
): ScriptedProvider {
  return scriptedProvider(replies, { name, model: `${name}-1`, otherwise: `from ${name}`, ...rest });
}

function rig(providers: readonly ScriptedProvider[], options: Partial<RouterOptions> = {}) {
  const clock = new FakeClock();
  const router = new Router({
    routes: providers.map((provider) => ({ provider, model: provider.defaultModel })),
    clock,
    random: () => 1,
    attempts: 1,
    ...options,
  });
  const ask = (rest: Partial<RouterRequest> = {}, signal = new AbortController().signal) =>
    router.ask({ messages: [{ role: "user", text: "Hello" }], reasoning: "balanced", ...rest }, { signal });
  return { clock, router, ask };
}

function failing(code: ProviderError["code"] = "server"): ProviderError {
  return new ProviderError(`Cannot do it: ${code}`, { code, retryable: code !== "auth" && code !== "refused" });
}

Deno.test("Router.ask() leaves a provider alone after five failures, and tries one call after a minute", async () => {
  const bad = named("bad", [failing(), failing(), failing(), failing(), failing(), failing(), "well again"]);
  const { ask, clock } = rig([bad, named("good")]);
  for (let i = 0; i < 7; i++) assert.equal((await ask()).provider, "good");
  assert.equal(bad.requests.length, 5);
  clock.advance(60_000);
  assert.equal((await ask()).provider, "good", "the one try failed");
  assert.equal((await ask()).provider, "good");
  assert.equal(bad.requests.length, 6);
  clock.advance(60_000);
  assert.equal((await ask()).provider, "bad");
  assert.equal((await ask()).provider, "bad");
});

Deno.test("Router.ask() names the time at which the only provider is tried again", async () => {
  const { ask, clock } = rig([named("bad", Array.from({ length: 5 }, () => failing()))]);
  for (let i = 0; i < 5; i++) await assert.rejects(ask(), /Cannot do it/);
  clock.advance(20_000);
  await assert.rejects(ask(), (error) => {
    assert.ok(error instanceof ProviderError);
    assert.match(
      error.message,
      /^Cannot get a reply from bad: it failed several times in a row, and no other model is configured; wait 40 s, then send the request again$/,
    );
    return error.retryable;
  });
});

Deno.test("Router.ask() does not count against a service that it refuses a key or a request", async () => {
  const strict = named("strict", Array.from({ length: 9 }, () => failing("auth")));
  const { ask } = rig([strict]);
  for (let i = 0; i < 9; i++) await assert.rejects(ask(), { code: "auth" });
  assert.equal(strict.requests.length, 9);
});

Deno.test("Router.ask() stops retrying as soon as the breaker opens", async () => {
  const bad = named("bad", [], { otherwise: failing() });
  const { ask } = rig([bad, named("good")], { attempts: 100 });
  assert.equal((await ask()).provider, "good");
  assert.equal(bad.requests.length, 5);
});

Deno.test("Router.ask() sends only one of many callers to a provider that may be well again", async () => {
  const bad = named("bad", Array.from({ length: 5 }, () => failing()));
  const { ask, clock } = rig([bad, named("good")]);
  for (let i = 0; i < 5; i++) await ask();
  clock.advance(60_000);
  const replies = await Promise.all([ask(), ask(), ask()]);
  assert.deepEqual(replies.map(({ provider }) => provider), ["bad", "good", "good"]);
});

Deno.test("Router.ask() asks the next provider while a rate window is full, and waits when all are", async () => {
  const limits = { a: { requests: 1, perMs: 10_000 }, b: { requests: 1, perMs: 4_000 } };
  const { ask, clock } = rig([named("a"), named("b")], { limits });
  assert.equal((await ask()).provider, "a");
  assert.equal((await ask()).provider, "b");
  assert.equal(clock.pauses.length, 0);
  assert.equal((await ask()).provider, "b");
  assert.ok(clock.pauses.includes(4_000));
});

Deno.test("Router.ask() can be cancelled while it waits for a rate window", async () => {
  const { ask } = rig([named("a")], { limits: { a: { requests: 1, perMs: 100_000 } } });
  await ask();
  const abort = new AbortController();
  const waiting = ask({}, abort.signal);
  abort.abort();
  await assert.rejects(waiting, { name: "Cancelled" });
});

Deno.test("Router.ask() does not wait for a rate window for minutes", async () => {
  const { ask } = rig([named("a")], { limits: { a: { requests: 1, perMs: 3_600_000 } } });
  await ask();
  await assert.rejects(ask(), {
    code: "rate",
    message:
      /^Cannot call a: its rateLimit in config\.jsonc allows the next call in 3600 s; wait, raise rateLimit, or choose another model$/,
  });
});

Deno.test("Router.ask() counts the tokens that a call really used", async () => {
  const heavy = named("a", [{ text: "x", usage: { input: 900, output: 100 } }]);
  const { ask } = rig([heavy, named("b")], { limits: { a: { tokens: 1000, perMs: 10_000 } } });
  assert.equal((await ask()).provider, "a");
  assert.equal((await ask()).provider, "b");
});

Deno.test("Router.ask() chooses by cost, speed or intelligence for one call only", async () => {
  const price = (input: number) => ({ input, output: input * 5, cached: 0 });
  const root = named("root", [], { capabilities: { price: price(3), nativeReasoning: true } });
  const cheap = named("cheap", [], { capabilities: { price: price(0.1) } });
  const best = named("best", [], { capabilities: { price: price(10), nativeReasoning: true } });
  const unknown = named("unknown");
  const { ask } = rig([unknown, root, cheap, best]);
  const served = async (prefer: RouterRequest["prefer"]) => (await ask({ prefer: prefer ?? null })).provider;
  assert.equal(await served("cost"), "cheap");
  assert.equal(await served("speed"), "cheap");
  assert.equal(await served("intelligence"), "best");
  assert.equal(await served(null), "unknown");
});

Deno.test("Router.ask() prefers configured ranks to the order of prices", async () => {
  const routes = [
    { provider: named("a"), model: "a-1", speed: 1, intelligence: 9 },
    { provider: named("b"), model: "b-1", speed: 5, intelligence: 2 },
  ];
  const { ask } = rig([], { routes });
  assert.equal((await ask({ prefer: "speed" })).provider, "b");
  assert.equal((await ask({ prefer: "intelligence" })).provider, "a");
});

Deno.test("Router.ask() skips models that are too small for a request, unless none is large enough", async () => {
  const small = named("small", [], { capabilities: { contextTokens: 8_000 } });
  const large = named("large", [], { capabilities: { contextTokens: 200_000 } });
  const messages: ModelMessage[] = [{ role: "user", text: "x".repeat(50_000) }];
  assert.equal((await rig([small, large]).ask({ messages })).provider, "large");
  assert.equal((await rig([small, large]).ask()).provider, "small");
  assert.equal((await rig([small]).ask({ messages })).provider, "small");
});

Deno.test("Router.ask() sends images only to models that take them", async () => {
  const blind = named("blind");
  const seeing = named("seeing", [], { capabilities: { images: true } });
  const messages: ModelMessage[] = [{ role: "user", text: "what?", images: [IMAGE] }];
  assert.equal((await rig([blind, seeing]).ask({ messages })).provider, "seeing");
  await assert.rejects(rig([blind]).ask({ messages }), {
    code: "refused",
    message: /^Cannot send images: Vis does not know that blind-1 accepts images/,
  });
  assert.equal(blind.requests.length, 0);
});

Deno.test("Router.ask() asks the named model only", async () => {
  const [a, b] = [named("a"), named("b")];
  const { ask } = rig([a, b]);
  assert.equal((await ask({ model: "b-1" })).provider, "b");
  assert.equal((await ask({ model: "b/b-1" })).provider, "b");
  await ask({ model: "other" });
  assert.equal(a.requests.at(-1)?.model, "other");
});

Deno.test("Router.ask() does not ask others after a part was shown, however many routes there are", async () => {
  const other = named("other");
  const { router } = rig([named("a", [{ text: "half", failAfter: failing("network") }]), other], { attempts: 3 });
  const asked = router.ask({ messages: [{ role: "user", text: "Hello" }], reasoning: "balanced" }, {
    signal: new AbortController().signal,
    onEvent: () => true,
  });
  await assert.rejects(asked, { code: "network" });
  assert.equal(other.requests.length, 0);
});

Deno.test("Router.become() serves as another router does, from the next call on", async () => {
  const { ask, router } = rig([named("one")]);
  assert.equal((await ask()).provider, "one");
  router.become(rig([named("two")]).router);
  assert.deepEqual([(await ask()).provider, router.current().model, router.routes.length], ["two", "two-1", 1]);
});

Deno.test("Router.ask() searches only with models whose service searches, and falls back only to such models", async () => {
  const search = { capabilities: { search: true } };
  const plain = named("plain");
  const first = named("first", [failing("auth")], search);
  const { ask } = rig([plain, first, named("last", [], search)]);
  const reply = await ask({ search: true });
  assert.deepEqual([reply.provider, plain.requests.length, first.requests.length], ["last", 0, 1]);
  assert.deepEqual(first.requests.map((asked) => asked.search), [true]);
  assert.equal((await ask()).provider, "plain");
  assert.deepEqual(plain.requests.map((asked) => asked.search), [false]);
  await assert.rejects(
    rig([plain]).ask({ search: true }),
    /^ProviderError: Cannot search the web: Vis knows no search of the service for plain-1$/,
  );
});
