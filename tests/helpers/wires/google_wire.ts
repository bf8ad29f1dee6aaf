import { countsOf, type MockEvent, type MockWire, pieces } from "./mock_wire.ts";
import type { MockReply, MockRequest } from "./wire_mock.ts";

/** The service documents this format at https://ai.google.dev/api/generate-content, https://ai.google.dev/api/models
 * and https://ai.google.dev/gemini-api/docs/troubleshooting. */
export const googleWire: MockWire = {
  base: "/v1beta",
  isRequest: (pathname) => /^\/v1beta\/models\/[^/]+:(streamGenerateContent|generateContent)$/.test(pathname),
  keyOf: (headers) => headers["x-goog-api-key"],
  listing: (models) => ({
    models: [
      ...models.map((id) => ({
        name: `models/${id}`,
        displayName: id,
        inputTokenLimit: 1_048_576,
        supportedGenerationMethods: ["generateContent", "countTokens"],
      })),
      { name: "models/embedding-001", supportedGenerationMethods: ["embedContent"] },
    ],
  }),
  textsOf: (body) =>
    [body.systemInstruction ?? { parts: [] }, ...body.contents]
      .flatMap(({ parts }: { parts: { text?: string }[] }) => parts.map(({ text }) => text))
      .filter((text) => text !== undefined),
  isStreamed: ({ path }) => path.includes(":streamGenerateContent") && path.includes("alt=sse"),
  events,
  whole: (reply, asked) => [...events({ ...reply, chunk: 1_000_000 }, asked)].map(({ data }) => data),
  failure,
  errorEvent: (error) => ({ data: failure(Number(error.code), error) }),
  isMark: () => false,
  ping: { data: { responseId: "r1" } },
};

function* events(reply: MockReply, asked: MockRequest): Generator<MockEvent> {
  const model = reply.model ?? decodeURIComponent(/models\/([^:]+):/.exec(asked.path)?.[1] ?? "");
  const usage = (done: boolean) => reply.usage === null ? {} : { usageMetadata: usageOf(reply, asked, done) };
  const event = (parts: readonly object[], fields: object = {}): MockEvent => ({
    data: {
      candidates: [{ content: { parts, role: "model" }, index: 0, ...fields }],
      ...usage("finishReason" in fields),
      modelVersion: model,
      responseId: "r1",
    },
  });
  for (const text of pieces(reply.reasoning ?? "", reply.chunk)) yield event([{ text, thought: true }]);
  for (const text of pieces(reply.text ?? "", reply.chunk)) yield event([{ text }]);
  if (reply.refusal) return yield blocked(reply.refusal);
  const finish = FINISH[reply.finish ?? "stop"] ?? reply.finish;
  yield event([{ text: "", thoughtSignature: "CtwFAQ" }], { finishReason: finish, ...grounding(reply) });
}

/** The service documents this metadata at https://ai.google.dev/gemini-api/docs/google-search. */
function grounding({ search }: MockReply): object {
  if (!search) return {};
  return {
    groundingMetadata: {
      webSearchQueries: search.queries,
      searchEntryPoint: { renderedContent: "<div></div>" },
      groundingChunks: search.cited.map(({ url, title }) => ({ web: { uri: url, title } })),
      groundingSupports: [{ segment: { startIndex: 0, endIndex: 9, text: "Deno 2.9" }, groundingChunkIndices: [0] }],
    },
  };
}

function blocked(why: string): MockEvent {
  return { data: { promptFeedback: { blockReason: "PROHIBITED_CONTENT", blockReasonMessage: why } } };
}

const FINISH: Readonly<Record<string, string>> = { stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY" };

function usageOf(reply: MockReply, asked: MockRequest, done: boolean): object {
  if (reply.usage) return reply.usage;
  const { input, output, cached, reasoning = 0 } = countsOf(reply, asked);
  return {
    promptTokenCount: input,
    totalTokenCount: input + output,
    ...(reply.search ? { toolUsePromptTokenCount: 100 } : {}),
    ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
    ...(done ? { candidatesTokenCount: output - reasoning, thoughtsTokenCount: reasoning } : {}),
  };
}

const STATUS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

function failure(status: number, error: Readonly<Record<string, unknown>>): object {
  const { message, details } = error;
  return { error: { code: status, message, status: STATUS[status] ?? "UNKNOWN", ...(details ? { details } : {}) } };
}
