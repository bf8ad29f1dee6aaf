import { countsOf, type MockEvent, type MockWire, pieces } from "./mock_wire.ts";
import type { MockReply, MockRequest } from "./wire_mock.ts";

/** The service documents this format at https://platform.openai.com/docs/api-reference/chat-streaming/streaming and
 * https://platform.openai.com/docs/guides/error-codes. */
export const openAiChatWire: MockWire = {
  base: "/v1",
  isRequest: (pathname) => pathname === "/v1/chat/completions",
  keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
  listing: (models) => ({ object: "list", data: models.map((id) => ({ id, object: "model" })) }),
  textsOf: (body) =>
    (body.messages ?? []).map((message: { content: string | { text?: string }[] }) =>
      typeof message.content === "string"
        ? message.content
        : message.content.map((part) => part.text).filter((text) => text !== undefined).join("\n")
    ),
  isStreamed: ({ body }) => body.stream === true,
  events,
  whole,
  failure: (_status, error) => ({ error: { type: null, code: null, ...error } }),
  errorEvent: (error) => ({ data: { error } }),
  isMark: ({ data }) => data === "[DONE]",
  ping: { data: { type: "ping" } },
};

function* events(reply: MockReply, asked: MockRequest): Generator<MockEvent> {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000 };
  const base = { ...head, model: reply.model ?? asked.body.model };
  const delta = (fields: object, finish: string | null = null) => ({
    data: { ...base, choices: [{ index: 0, delta: fields, finish_reason: finish }] },
  });
  yield delta({ role: "assistant", content: "" });
  for (const part of pieces(reply.reasoning ?? "", reply.chunk)) {
    yield delta({ [reply.reasoningField ?? "reasoning_content"]: part });
  }
  for (const part of pieces(reply.text ?? "", reply.chunk)) yield delta({ content: part });
  if (reply.search) yield delta({ content: "", annotations: annotationsOf(reply.search) });
  for (const part of pieces(reply.refusal ?? "", reply.chunk)) yield delta({ refusal: part });
  if (reply.fault !== "no_finish") yield delta({}, reply.finish ?? "stop");
  if (asked.body.stream_options?.include_usage && reply.usage !== null) {
    yield { data: { ...base, choices: [], usage: usageOf(reply, asked) } };
  }
  yield { data: "[DONE]" };
}

function whole(reply: MockReply, asked: MockRequest): object {
  const message = {
    role: "assistant",
    content: reply.text ?? "",
    ...(reply.reasoning ? { [reply.reasoningField ?? "reasoning_content"]: reply.reasoning } : {}),
    ...(reply.refusal ? { refusal: reply.refusal } : {}),
    ...(reply.search ? { annotations: annotationsOf(reply.search) } : {}),
  };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: reply.model ?? asked.body.model,
    choices: [{ index: 0, message, finish_reason: reply.finish ?? "stop" }],
    ...(reply.usage === null ? {} : { usage: usageOf(reply, asked) }),
  };
}

/** OpenRouter documents this shape at https://openrouter.ai/docs/guides/features/server-tools/web-search. */
function annotationsOf({ cited }: NonNullable<MockReply["search"]>): readonly object[] {
  return cited.map((page) => ({
    type: "url_citation",
    url_citation: { ...page, content: "Deno 2.9 is out", start_index: 0, end_index: 9 },
  }));
}

function usageOf(reply: MockReply, asked: MockRequest): object {
  if (reply.usage) return reply.usage;
  const { input, output, cached, cacheWrite, reasoning } = countsOf(reply, asked);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cached === undefined
      ? {}
      : { prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite } }),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
    ...(reply.search ? { server_tool_use: { web_search_requests: reply.search.queries.length } } : {}),
  };
}
