import type { ProviderErrorCode } from "../../src/domain/errors.ts";
import type { MockFault, MockReply } from "../helpers/wires/wire_mock.ts";

export interface Failing {
  readonly what: string;
  readonly reply: MockReply;
  readonly code: ProviderErrorCode;
  readonly retryable: boolean;
  readonly status?: number | null;
  readonly says: RegExp;
  readonly retryAfterMs?: number;
}

/** Bytes and surrogates can be cut out of the middle of this text. */
export const LONG = "Ünïcödé 😀 漢字 ".repeat(40);

export interface FailureWords {
  readonly path: string;
  readonly api: string;
  readonly overloaded: 503 | 529;
  readonly tooLong: { readonly status: number; readonly error: Readonly<Record<string, unknown>> };
}

export function failures(words: FailureWords): readonly Failing[] {
  return [...statuses(words), ...faults(words)];
}

function statuses({ path, tooLong }: FailureWords): readonly Failing[] {
  const model = new RegExp(`model "mock-1" or the path http.*${path.replace(/[/.]/g, "\\$&")}: .*vis models`);
  return [
    status(400, { code: "server", retryable: false, says: /Unsupported value: temperature/ }, {
      error: { message: "Unsupported value: temperature" },
    }),
    status(400, { code: "server", retryable: false, says: /without a reason; check / }, { body: "" }),
    status(401, { code: "auth", retryable: false, says: /check (VIS_API_KEY|the key of)/ }),
    status(403, { code: "auth", retryable: false, says: /check (VIS_API_KEY|the key of)/ }),
    status(402, { code: "auth", retryable: false, says: /no credit/ }),
    status(404, { code: "server", retryable: false, says: model }),
    status(413, {
      code: "context",
      retryable: false,
      says: /refused the model call as too large, with status 413|context/,
    }),
    status(422, { code: "server", retryable: false, says: /field required/ }, {
      body: JSON.stringify({ detail: [{ msg: "field required", type: "missing" }] }),
    }),
    status(tooLong.status, { code: "context", retryable: false, says: /larger context/ }, { error: tooLong.error }),
    status(429, { code: "rate", retryable: true, says: /asks Vis to wait 7 s/, retryAfterMs: 7000 }, {
      headers: { "retry-after": "7" },
    }),
    status(429, { code: "rate", retryable: true, says: /too many requests/ }),
    ...[500, 502, 503, 504, 529].map((code) => status(code, { code: "server", retryable: true, says: /try again/ })),
    status(503, { code: "server", retryable: true, says: /try again/, retryAfterMs: 2000 }, {
      headers: { "retry-after": "2" },
    }),
    status(502, { code: "server", retryable: true, says: /the server failed with status 502; try again later$/ }, {
      body: "<html><body>Bad gateway</body></html>",
      headers: { "content-type": "text/html" },
    }),
  ];
}

function faults({ api, overloaded }: FailureWords): readonly Failing[] {
  const notThat = new RegExp(`it does not have the format of ${api}`);
  return [
    fault("cut", { code: "network", retryable: true, says: /the connection ended too early/ }),
    fault("ends_early", { code: "network", retryable: true, says: /the connection ended too early/ }),
    fault("garbage_chunk", { code: "server", retryable: true, says: notThat }),
    fault("error_chunk", { code: "server", retryable: true, says: /Overloaded/, status: overloaded }),
    fault("html", { code: "server", retryable: false, says: /a web page, not the API; check/ }),
    fault("empty", { code: "server", retryable: true, says: /the reply was empty/ }),
    fault("prose", { code: "server", retryable: true, says: /It works!/ }),
    {
      what: "broken JSON in place of a reply",
      reply: { body: `{"choices": [` },
      code: "server",
      retryable: true,
      says: notThat,
    },
    {
      what: "JSON of another API in place of a reply",
      reply: { body: `{"response": "hello"}` },
      code: "server",
      retryable: true,
      says: notThat,
    },
    { what: "an empty JSON body", reply: { body: "" }, code: "server", retryable: true, says: /the reply was empty/ },
    {
      what: "a stream that ends before its first event",
      reply: { body: ": waiting\n\n", headers: { "content-type": "text/event-stream" } },
      code: "network",
      retryable: true,
      says: /the connection ended too early/,
    },
    {
      what: "a refusal of the model",
      reply: { refusal: "I cannot help with that." },
      code: "refused",
      retryable: false,
      says: /I cannot help with that/,
    },
    {
      what: "a content filter",
      reply: { text: "half", finish: "content_filter" },
      code: "refused",
      retryable: false,
      says: /refused/,
    },
  ];
}

const TOO_LONG = { code: "reply", retryable: false } as const;
const MANY = "word ".repeat(600_000);

/** Comments are skipped before a wire format sees them, so one format is enough for this test. */
export const ENDLESS_COMMENTS: Failing = fault("endless_comments", { ...TOO_LONG, says: /it is larger than 128 MiB/ });

/** Each wire format reads a ping, and the limit of bytes is the same for all. */
export const ENDLESS_PINGS: Failing = fault("endless_pings", { ...TOO_LONG, says: /it is larger than 128 MiB/ });

/** These replies would fill the memory, or never end. */
export const LARGE_REPLIES: readonly Failing[] = [
  {
    what: "3 MB of text",
    reply: { text: MANY, chunk: 50_000 },
    ...TOO_LONG,
    says: /it has more than 1 million characters, the limit, so Vis ended it/,
  },
  {
    what: "3 MB of reasoning in one piece",
    reply: { reasoning: MANY, chunk: MANY.length },
    ...TOO_LONG,
    says: /it has more than 1 million characters/,
  },
  {
    what: "3 MB that come whole",
    reply: { text: MANY, fault: "not_streamed" },
    ...TOO_LONG,
    says: /it has more than 1 million characters/,
  },
  {
    what: "text without an end",
    reply: { text: "word ".repeat(50_000), chunk: 5_000, fault: "endless" },
    ...TOO_LONG,
    says: /it has more than 1 million characters/,
  },
  {
    what: "reasoning without an end",
    reply: { reasoning: "word ".repeat(50_000), chunk: 5_000, fault: "endless" },
    ...TOO_LONG,
    says: /it has more than 1 million characters/,
  },
  fault("endless_line", { ...TOO_LONG, says: /an event has more than 8 million characters/ }),
  fault("endless_event", { ...TOO_LONG, says: /an event has more than 8 million characters/ }),
  fault("endless_body", { ...TOO_LONG, says: /it is larger than 16 MiB/ }),
  {
    what: "an error without an end",
    reply: { status: 503, fault: "endless_body" },
    code: "server",
    retryable: true,
    status: 503,
    says: /the server failed/,
  },
];

type Expected = Pick<Failing, "code" | "retryable" | "says" | "status" | "retryAfterMs">;

function status(code: number, expected: Expected, reply: MockReply = {}): Failing {
  const { error, body } = reply;
  const detail = body ?? JSON.stringify(error?.message ?? error?.code ?? reply.headers ?? "");
  return {
    what: `${code} ${detail.slice(0, 40)}`.trim(),
    reply: { status: code, ...reply },
    status: code,
    ...expected,
  };
}

function fault(kind: MockFault, expected: Expected): Failing {
  return { what: `the fault ${kind}`, reply: { text: LONG, fault: kind }, ...expected };
}
