import assert from "node:assert/strict";
import { Cancelled, ProviderError, type ProviderErrorKind } from "../../src/domain/errors.ts";
import type { ModelEvent, ModelRequest, Provider } from "../../src/providers/provider.ts";
import type { MockFault, MockReply } from "../helpers/openai_mock.ts";

/** A provider and the service behind it, for one test. */
export interface ProviderRig {
  readonly provider: Provider;
  /** Requests that reached the service so far, as the texts of their messages. */
  asked(): readonly (readonly string[])[];
  /** Resolves once the service saw this many clients leave before the end; rejects where it never does. */
  left(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface ProviderSubject {
  readonly name: string;
  /** The service answers each request with this reply. */
  readonly start: (reply: MockReply) => ProviderRig | Promise<ProviderRig>;
  /** A wire can break, be slow and say nonsense; a provider inside the process cannot. */
  readonly wire: boolean;
}

interface Failing {
  readonly what: string;
  readonly reply: MockReply;
  readonly kind: ProviderErrorKind;
  readonly retryable: boolean;
  readonly status?: number | null;
  readonly says: RegExp;
  readonly retryAfterMs?: number;
}

const LONG = "Ünïcödé 😀 漢字 ".repeat(40);

export const FAILURES: readonly Failing[] = [
  ...status(400, { kind: "server", retryable: false, says: /Unsupported value: temperature/ }, {
    error: { message: "Unsupported value: temperature" },
  }),
  ...status(401, { kind: "auth", retryable: false, says: /check VIS_API_KEY/ }),
  ...status(403, { kind: "auth", retryable: false, says: /check VIS_API_KEY/ }),
  ...status(402, { kind: "auth", retryable: false, says: /no credit/ }),
  ...status(404, { kind: "server", retryable: false, says: /model "mock-1" or the path .*\/v1\/chat\/completions/ }),
  ...status(413, { kind: "context", retryable: false, says: /context/ }),
  ...status(422, { kind: "server", retryable: false, says: /field required/ }, {
    body: JSON.stringify({ detail: [{ msg: "field required", type: "missing" }] }),
  }),
  ...status(400, { kind: "context", retryable: false, says: /larger context/ }, {
    error: { message: "This model's maximum context length is 8192 tokens.", code: "context_length_exceeded" },
  }),
  ...status(429, { kind: "rate", retryable: true, says: /asks to wait 7 s/, retryAfterMs: 7000 }, {
    headers: { "retry-after": "7" },
  }),
  ...status(429, { kind: "rate", retryable: true, says: /too many requests/ }),
  ...status(429, { kind: "auth", retryable: false, says: /no credit/ }, {
    error: { message: "You exceeded your current quota", code: "insufficient_quota" },
  }),
  ...[500, 502, 503, 504, 529].flatMap((code) => status(code, { kind: "server", retryable: true, says: /try again/ })),
  ...status(502, { kind: "server", retryable: true, says: /\(502\): the server failed; try again later$/ }, {
    body: "<html><body>Bad gateway</body></html>",
    headers: { "content-type": "text/html" },
  }),
  fault("cut", { kind: "network", retryable: true, says: /ended in the middle/ }),
  fault("ends_early", { kind: "network", retryable: true, says: /ended in the middle/ }),
  fault("garbage_chunk", { kind: "server", retryable: true, says: /not what the chat completions API sends/ }),
  fault("error_chunk", { kind: "server", retryable: true, says: /Overloaded/, status: 503 }),
  fault("html", { kind: "server", retryable: false, says: /a web page, not the API; check VIS_BASE_URL/ }),
  fault("empty", { kind: "server", retryable: true, says: /it was empty/ }),
  fault("prose", { kind: "server", retryable: true, says: /It works!/ }),
  {
    what: "an error object in place of a completion",
    reply: { body: JSON.stringify({ error: { message: "Slow down", code: "rate_limit_exceeded" } }) },
    kind: "rate",
    retryable: true,
    status: 429,
    says: /Slow down/,
  },
  {
    what: "broken JSON in place of a completion",
    reply: { body: `{"choices": [` },
    kind: "server",
    retryable: true,
    says: /not what the chat completions API sends/,
  },
  {
    what: "JSON of another API in place of a completion",
    reply: { body: `{"response": "hello"}` },
    kind: "server",
    retryable: true,
    says: /Cannot read/,
  },
  {
    what: "an empty JSON body",
    reply: { body: "" },
    kind: "server",
    retryable: true,
    says: /it was empty/,
  },
  {
    what: "a refusal of the model",
    reply: { refusal: "I cannot help with that." },
    kind: "refused",
    retryable: false,
    says: /I cannot help with that/,
  },
  {
    what: "a content filter",
    reply: { text: "half", finish: "content_filter" },
    kind: "refused",
    retryable: false,
    says: /refused/,
  },
];

/** What every provider must do, and what one with a wire must survive. */
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
  if (subject.wire) wireSuite(test);
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
  test("says when the reply was too long", { text: "half", finish: "length" }, async ({ provider }) => {
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
  test("ends with Cancelled while it waits", { text: "late", delayMs: 5000 }, async ({ provider, left }) => {
    const abort = new AbortController();
    const reply = collect(provider, { signal: abort.signal });
    setTimeout(() => abort.abort(), 20);
    await assert.rejects(reply, Cancelled);
    await left(1);
  });
  test("lets go of the service when the reader stops", { text: LONG, fault: "silence" }, async ({ provider, left }) => {
    for await (const event of provider.stream(request())) {
      if (event.type === "text") break;
    }
    await left(1);
  });
}

function wireSuite(test: Test): void {
  for (const failing of FAILURES) {
    test(`names ${failing.what}`, failing.reply, async ({ provider }) => {
      const error = await collect(provider).then(() => null, (error: unknown) => error);
      assert.ok(error instanceof ProviderError, `no ProviderError: ${error}`);
      assert.match(error.message, failing.says);
      assert.match(error.message, /^Cannot /);
      assert.doesNotMatch(error.message, /\.$|n't|undefined|\[object/);
      assert.ok(error.message.length <= 800, `${error.message.length} characters`);
      const { kind, retryable, retryAfterMs } = error;
      assert.deepEqual({ kind, retryable, retryAfterMs }, {
        kind: failing.kind,
        retryable: failing.retryable,
        retryAfterMs: failing.retryAfterMs ?? null,
      });
      if (failing.status !== undefined) assert.equal(error.status, failing.status);
    });
  }
  const counts = {
    prompt_tokens: 1000,
    completion_tokens: 50,
    total_tokens: 1050,
    prompt_tokens_details: { cached_tokens: 800 },
    completion_tokens_details: { reasoning_tokens: 20 },
  };
  test("counts cached and reasoning tokens", { text: "yes", usage: counts }, async ({ provider }) => {
    const { usage } = endOf(await collect(provider));
    assert.deepEqual(usage, { input: 1000, output: 50, cached: 800, reasoning: 20, calls: 1 });
  });
  const odd = { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 8 };
  test("reads cached tokens in another spelling", { text: "yes", usage: odd }, async ({ provider }) => {
    assert.equal(endOf(await collect(provider)).usage.cached, 8);
  });
  test("counts nothing where the service does not", { text: "yes", usage: null }, async ({ provider }) => {
    const { usage } = endOf(await collect(provider));
    assert.deepEqual(usage, { input: 0, output: 0, cached: 0, reasoning: 0, calls: 1 });
  });
  test("puts characters together that arrive byte by byte", { text: LONG, fault: "bytewise" }, async ({ provider }) => {
    assert.equal(textOf(await collect(provider), "text"), LONG);
  });
  test("puts surrogates together that arrive in two events", { text: LONG, chunk: 1 }, async ({ provider }) => {
    assert.equal(textOf(await collect(provider), "text"), LONG);
  });
  test(
    "reads reasoning in the other field",
    { reasoning: "why", reasoningField: "reasoning" },
    async ({ provider }) => {
      assert.equal(textOf(await collect(provider), "reasoning"), "why");
    },
  );
  for (const kind of ["not_streamed", "ping", "no_finish"] as const) {
    test(`forgives ${kind}`, { text: LONG, reasoning: "why", fault: kind }, async ({ provider }) => {
      const events = await collect(provider);
      assert.equal(textOf(events, "text"), LONG);
      assert.equal(textOf(events, "reasoning"), "why");
      assert.equal(endOf(events).finish, "stop");
      assert.ok(endOf(events).usage.output > 0);
    });
  }
  for (const kind of ["no_headers", "no_token", "silence"] as const) {
    test(`leaves a service that shows ${kind}`, { text: LONG, fault: kind }, async ({ provider, left }) => {
      const abort = new AbortController();
      const reply = collect(provider, { signal: abort.signal });
      setTimeout(() => abort.abort(), 30);
      await assert.rejects(reply, Cancelled);
      await left(1);
    });
  }
  test("leaves at once after garbage was collected", { text: LONG, fault: "silence" }, async ({ provider, left }) => {
    const abort = new AbortController();
    const reply = collect(provider, { signal: abort.signal });
    await new Promise((resolve) => setTimeout(resolve, 20));
    collectGarbage();
    setTimeout(() => abort.abort(), 5);
    await assert.rejects(Promise.race([reply, tooLate()]), Cancelled);
    await left(1);
  });
  test("gives what came before a cut", { text: LONG, fault: "cut" }, async ({ provider }) => {
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

/** A request as the engine makes it. */
export function request(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [
      { role: "system", text: "You are terse." },
      { role: "user", text: "Hello", cache: true },
      { role: "user", text: "Context 1" },
    ],
    model: "mock-1",
    reasoning: "balanced",
    signal: new AbortController().signal,
    ...fields,
  };
}

export async function collect(
  provider: Provider,
  options: { readonly signal?: AbortSignal; readonly onEvent?: (event: ModelEvent) => void } = {},
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(request(options.signal ? { signal: options.signal } : {}))) {
    events.push(event);
    options.onEvent?.(event);
  }
  return events;
}

export function textOf(events: readonly ModelEvent[], type: "text" | "reasoning"): string {
  return events.map((event) => event.type === type ? event.delta : "").join("");
}

export function endOf(events: readonly ModelEvent[]): Extract<ModelEvent, { type: "end" }> {
  const end = events.at(-1);
  assert.ok(end?.type === "end");
  return end;
}

/** Makes so much garbage that the runtime collects it, without its flag for that. */
function collectGarbage(): void {
  for (let round = 0; round < 30; round++) Array.from({ length: 100_000 }, (_, at) => ({ at }));
}

function tooLate(): Promise<never> {
  const giveUp = AbortSignal.timeout(1000);
  return new Promise((_, reject) => giveUp.addEventListener("abort", () => reject(new Error("Not cancelled in 1 s"))));
}

type Expected = Pick<Failing, "kind" | "retryable" | "says" | "status" | "retryAfterMs">;

function status(code: number, expected: Expected, reply: MockReply = {}): Failing[] {
  const { error, body } = reply;
  const detail = body ?? JSON.stringify(error?.message ?? error?.code ?? reply.headers ?? "");
  return [{
    what: `${code} ${detail.slice(0, 40)}`.trim(),
    reply: { status: code, ...reply },
    status: code,
    ...expected,
  }];
}

function fault(kind: MockFault, expected: Expected): Failing {
  return { what: `the fault ${kind}`, reply: { text: LONG, fault: kind }, ...expected };
}
