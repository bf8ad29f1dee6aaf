import type { ProviderErrorKind } from "../../src/domain/errors.ts";
import type { MockFault, MockReply } from "../helpers/openai_mock.ts";

/** A reply of a service that must become a `ProviderError`. */
export interface Failing {
  readonly what: string;
  readonly reply: MockReply;
  readonly kind: ProviderErrorKind;
  readonly retryable: boolean;
  readonly status?: number | null;
  readonly says: RegExp;
  readonly retryAfterMs?: number;
}

/** Text that bytes and surrogates can be cut out of the middle of. */
export const LONG = "Ünïcödé 😀 漢字 ".repeat(40);

/** Everything a service may do wrong. */
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
