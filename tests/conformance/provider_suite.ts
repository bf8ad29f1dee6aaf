import assert from "node:assert/strict";
import { Cancelled, ProviderError } from "../../src/domain/errors.ts";
import type { Usage } from "../../src/domain/query/query_schemas.ts";
import type { ModelEvent, Provider } from "../../src/providers/provider.ts";
import type { MockCounts, MockReply } from "../helpers/wires/wire_mock.ts";
import { collect, endOf, request, textOf } from "./provider_calls.ts";
import { type Failing, LONG } from "./provider_failures.ts";
import { until } from "../helpers/until.ts";

export interface ProviderRig {
  readonly provider: Provider;
  asked(): readonly (readonly string[])[];
  connections(): number;
  /** Resolves once this many clients left before the end. Rejects if they never do. */
  left(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface ProviderSubject {
  readonly name: string;
  readonly start: (reply: MockReply) => ProviderRig | Promise<ProviderRig>;
  /** A wire can break, be slow and send nonsense. Null for a provider inside the process, which cannot. */
  readonly wire: WireFacts | null;
}

export interface WireFacts {
  readonly failures: readonly Failing[];
  /** Whether an event marks the end of the reply, so that the client need not wait for more. */
  readonly marksEnd: boolean;
}

/** Tests the duties of every provider, and the faults that a provider with a wire must survive. */
export function providerSuite(subject: ProviderSubject): void {
  const test = (what: string, reply: MockReply, body: (rig: ProviderRig) => Promise<void>) =>
    Deno.test(`${subject.name} ${what}`, async () => {
      const rig = await subject.start(reply);
      try {
        await body(rig);
      } finally {
        await rig.close();
      }
    });
  repliesSuite(test);
  cancelSuite(test);
  if (subject.wire) wireSuite(test, subject.wire);
}

type Test = (what: string, reply: MockReply, body: (rig: ProviderRig) => Promise<void>) => void;

function repliesSuite(test: Test): void {
  test("streams the text in pieces and ends once, last", { text: LONG }, async ({ provider, asked }) => {
    const events = await collect(provider);
    assert.equal(textOf(events, "text"), LONG);
    assert.ok(events.length > 5);
    assert.deepEqual(events.map(({ type }) => type).filter((type) => type === "end"), ["end"]);
    assert.equal(events.at(-1)?.type, "end");
    assert.deepEqual(asked(), [["You are terse.", "Hello", "Context 1"]]);
  });
  test("keeps reasoning apart from the text", { text: "yes", reasoning: LONG }, async ({ provider }) => {
    const events = await collect(provider);
    assert.equal(textOf(events, "reasoning"), LONG);
    assert.equal(textOf(events, "text"), "yes");
  });
  test("counts one call and names the model", { text: "yes" }, async ({ provider }) => {
    const end = endOf(await collect(provider));
    assert.equal(end.usage.calls, 1);
    assert.ok(end.usage.input > 0 && end.usage.output > 0);
    assert.equal(end.model, "mock-1");
    assert.equal(end.finish, "stop");
  });
  test("reports a reply that was too long", { text: "half", finish: "length" }, async ({ provider }) => {
    assert.equal(endOf(await collect(provider)).finish, "length");
  });
  test("ends an empty reply without a text", { text: "" }, async ({ provider }) => {
    assert.deepEqual((await collect(provider)).map(({ type }) => type), ["end"]);
  });
  test("serves two calls at once", { text: LONG }, async ({ provider }) => {
    const both = await Promise.all([collect(provider), collect(provider)]);
    assert.deepEqual(both.map((events) => textOf(events, "text")), [LONG, LONG]);
  });
  test("lists models", { text: "" }, async ({ provider }) => {
    assert.deepEqual(await provider.models({ signal: new AbortController().signal }), ["mock-1"]);
  });
}

function cancelSuite(test: Test): void {
  test("asks nothing when it is cancelled before", { text: "late" }, async ({ provider, asked }) => {
    const signal = AbortSignal.abort();
    await assert.rejects(collect(provider, { signal }), Cancelled);
    await assert.rejects(provider.models({ signal }), Cancelled);
    assert.deepEqual(asked(), []);
  });
  test("ends with Cancelled in the middle of a reply", { text: LONG, fault: "silence" }, async ({ provider, left }) => {
    const abort = new AbortController();
    const seen: ModelEvent[] = [];
    await assert.rejects(
      collect(provider, {
        signal: abort.signal,
        onEvent: (event) => {
          seen.push(event);
          abort.abort();
        },
      }),
      Cancelled,
    );
    assert.equal(seen.length, 1);
    await left(1);
  });
  test("ends with Cancelled while it waits", { text: "late", delayMs: 60_000 }, async (rig) => {
    const abort = new AbortController();
    void reached(rig).then(() => abort.abort());
    await assert.rejects(collect(rig.provider, { signal: abort.signal }), Cancelled);
    await rig.left(1);
  });
  test("lets go of the service when the reader stops", { text: LONG, fault: "silence" }, async ({ provider, left }) => {
    for await (const event of provider.stream(request())) {
      if (event.type === "text") break;
    }
    await left(1);
  });
}

function wireSuite(test: Test, facts: WireFacts): void {
  failuresSuite(test, facts.failures);
  bytesSuite(test, facts);
  leavingSuite(test);
}

function failuresSuite(test: Test, failures: readonly Failing[]): void {
  for (const failing of failures) {
    test(`names ${failing.what}`, failing.reply, async ({ provider }) => {
      const error = await collect(provider).then(() => null, (error: unknown) => error);
      assert.ok(error instanceof ProviderError, `no ProviderError: ${error}`);
      assert.match(error.message, failing.says);
      assert.match(error.message, /^Cannot /);
      assert.doesNotMatch(error.message, /\.$|n't|undefined|\[object/);
      assert.ok(error.message.length <= 800, `${error.message.length} characters`);
      const { code, retryable, retryAfterMs } = error;
      assert.deepEqual({ code, retryable, retryAfterMs }, {
        code: failing.code,
        retryable: failing.retryable,
        retryAfterMs: failing.retryAfterMs ?? null,
      });
      if (failing.status !== undefined) assert.equal(error.status, failing.status);
    });
  }
  test("returns the text before a cut", { text: LONG, fault: "cut" }, async ({ provider }) => {
    const seen: ModelEvent[] = [];
    await assert.rejects(collect(provider, { onEvent: (event) => seen.push(event) }), ProviderError);
    const text = textOf(seen, "text");
    assert.ok(text !== "" && LONG.startsWith(text) && text !== LONG);
  });
  const garbage = { status: 400, error: { message: "x".repeat(5000) + "\u001b[31m\nTail" } };
  test("bounds the service's text and takes control characters out", garbage, async ({ provider }) => {
    const error = await collect(provider).then(() => null, (error: Error) => error);
    assert.ok(error instanceof ProviderError && error.message.length < 700);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(error.message, /[\u0000-\u001f]/);
  });
}

function bytesSuite(test: Test, { marksEnd }: WireFacts): void {
  const counts = { input: 1000, output: 50, cached: 800, reasoning: 20 };
  test("counts cached and reasoning tokens", { text: "yes", counts }, async ({ provider }) => {
    assert.deepEqual(endOf(await collect(provider)).usage, { ...counts, calls: 1 });
  });
  const estimated = { input: 9, output: 3, cached: 0, reasoning: 0, calls: 1, estimated: 1 };
  const text = "0123456789";
  for (const reply of [{ usage: null }, { counts: { input: 0, output: 0 } }]) {
    test(`estimates where the service counts nothing: ${JSON.stringify(reply)}`, { text, ...reply }, async (rig) => {
      assert.deepEqual(endOf(await collect(rig.provider)).usage, estimated);
    });
  }
  test(
    "reads counts that are texts or fractions",
    { text, counts: { input: "7" as unknown as number, output: 12.5 } },
    async ({ provider }) => {
      const { usage } = endOf(await collect(provider));
      assert.deepEqual(usage, { input: 7, output: 13, cached: 0, reasoning: 0, calls: 1 });
    },
  );
  const absurd: readonly MockCounts[] = [
    { input: -5, output: NaN },
    { input: 1e300, output: -1, cached: -7, reasoning: -3 },
    { input: "some" as unknown as number, output: "many" as unknown as number },
  ];
  for (const counts of absurd) {
    test(
      `estimates instead of counts that no call has: ${Object.values(counts)}`,
      { text, counts },
      async ({ provider }) => {
        const { usage, oddities = [] } = endOf(await collect(provider));
        assert.deepEqual(usage, estimated);
        assert.ok(oddities.some((text) => text.startsWith("input: ")), oddities.join());
      },
    );
  }
  for (const fault of ["cut", "silence"] as const) {
    test(`counts a reply that does not end: ${fault}`, { text: LONG, fault, usage: null }, async (rig) => {
      const abort = new AbortController();
      const said: ModelEvent[] = [];
      const onEvent = (event: ModelEvent) => {
        said.push(event);
        if (fault === "silence" && textOf(said, "text").length >= LONG.length / 4) abort.abort();
      };
      const usages: (Usage | null)[] = [];
      const onUsage = (usage: Usage | null) => void usages.push(usage);
      await assert.rejects(collect(rig.provider, { signal: abort.signal, onEvent, onUsage }));
      assert.deepEqual(usages[0], { ...estimated, output: 0 }, "what is sent counts");
      const heard = Math.ceil(new TextEncoder().encode(textOf(said, "text")).byteLength / 3.5);
      const last = usages.at(-1);
      assert.deepEqual({ ...last, output: 0 }, usages[0]);
      assert.ok(last && heard > 0 && last.output >= heard, `${last?.output} of ${heard}`);
    });
  }
  test("counts nothing for a request that was refused", { status: 500, error: { message: "no" } }, async (rig) => {
    const usages: (Usage | null)[] = [];
    await assert.rejects(collect(rig.provider, { onUsage: (usage) => void usages.push(usage) }), ProviderError);
    assert.equal(usages.at(-1), null);
  });
  for (const fault of ["stays_open", "cut_at_end"] as const) {
    const reply = { text: LONG, fault, counts } as const;
    test(`takes a reply that is over although its stream is not: ${fault}`, reply, async ({ provider, left }) => {
      const events = await collect(provider);
      assert.deepEqual([textOf(events, "text"), endOf(events).finish], [LONG, "stop"]);
      assert.equal(endOf(events).usage.output, 50);
      if (fault === "stays_open") await left(1);
    });
  }
  test("puts characters together that arrive byte by byte", { text: LONG, fault: "bytewise" }, async ({ provider }) => {
    assert.equal(textOf(await collect(provider), "text"), LONG);
  });
  test("puts surrogates together that arrive in two events", { text: LONG, chunk: 1 }, async ({ provider }) => {
    const events = await collect(provider);
    assert.equal(textOf(events, "text"), LONG);
    assert.ok(events.every((event) => event.type === "end" || event.delta.isWellFormed()));
  });
  for (const lineEnd of ["\r\n", "\r"] as const) {
    for (const fault of ["bytewise", undefined] as const) {
      const reply = { text: LONG, lineEnd, ...(fault ? { fault } : {}) };
      test(`reads lines that end in ${JSON.stringify(lineEnd)} ${fault ?? "whole"}`, reply, async ({ provider }) => {
        const events = await collect(provider);
        assert.equal(textOf(events, "text"), LONG);
        assert.equal(endOf(events).finish, "stop");
      });
    }
  }
  test("passes comments over", { text: LONG, comment: "OPENROUTER PROCESSING" }, async ({ provider }) => {
    assert.equal(textOf(await collect(provider), "text"), LONG);
  });
  test("keeps its connection for the next call", { text: LONG, endsAfterMs: 10 }, async ({ provider, connections }) => {
    // The runtime reuses a connection in turns of its own, and one of the calls finds it.
    for (let call = 0; call < 10; call++) await collect(provider);
    assert.ok(connections() < 10);
  });
  if (marksEnd) {
    test("ends without the end of the connection", { text: LONG, holdsOpen: true }, async ({ provider, left }) => {
      assert.equal(textOf(await collect(provider), "text"), LONG);
      await left(1);
    });
  }
  for (const kind of ["not_streamed", "ping"] as const) {
    test(`forgives ${kind}`, { text: LONG, reasoning: "why", fault: kind }, async ({ provider }) => {
      const events = await collect(provider);
      assert.equal(textOf(events, "text"), LONG);
      assert.equal(textOf(events, "reasoning"), "why");
      assert.equal(endOf(events).finish, "stop");
      assert.ok(endOf(events).usage.output > 0);
    });
  }
}

function leavingSuite(test: Test): void {
  for (const kind of ["no_headers", "no_token", "silence"] as const) {
    test(`leaves a service that shows ${kind}`, { text: LONG, fault: kind }, async (rig) => {
      const abort = new AbortController();
      // In this time, the headers and the first text arrive if there are any.
      void reached(rig).then(() => setTimeout(() => abort.abort(), 30));
      await assert.rejects(collect(rig.provider, { signal: abort.signal }), Cancelled);
      await rig.left(1);
    });
  }
  test("leaves at once after garbage was collected", { text: LONG, fault: "silence" }, async ({ provider, left }) => {
    const abort = new AbortController();
    const begun = Promise.withResolvers<void>();
    const reply = collect(provider, { signal: abort.signal, onEvent: () => begun.resolve() });
    await Promise.race([begun.promise, reply]);
    collectGarbage();
    setTimeout(() => abort.abort(), 5);
    await assert.rejects(Promise.race([reply, tooLate()]), Cancelled);
    await left(1);
  });
}

function reached({ asked }: ProviderRig): Promise<void> {
  return until(() => asked().length > 0);
}

/** Makes so much garbage that the runtime collects it, without its flag for that. */
function collectGarbage(): void {
  for (let round = 0; round < 30; round++) Array.from({ length: 100_000 }, (_, at) => ({ at }));
}

function tooLate(): Promise<never> {
  const giveUp = AbortSignal.timeout(20_000);
  return new Promise((_, reject) => giveUp.addEventListener("abort", () => reject(new Error("Not cancelled in 20 s"))));
}
