import { countsOf, type MockEvent, type MockWire, pieces } from "./mock_wire.ts";
import type { MockReply, MockRequest } from "./wire_mock.ts";

/** The service documents this format at https://platform.claude.com/docs/en/build-with-claude/streaming and
 * https://platform.claude.com/docs/en/api/errors. */
export const anthropicWire: MockWire = {
  base: "/v1",
  isRequest: (pathname) => pathname === "/v1/messages",
  keyOf: (headers) => headers["x-api-key"],
  listing: (models) => ({
    data: models.map((id) => ({ type: "model", id, display_name: id, created_at: "2026-01-01T00:00:00Z" })),
    has_more: false,
    first_id: models.at(0) ?? null,
    last_id: models.at(-1) ?? null,
  }),
  textsOf: (body) =>
    [body.system ?? [], ...body.messages.map(({ content }: { content: unknown }) => content)].flat()
      .map(({ text }: { text?: string }) => text)
      .filter((text) => text !== undefined),
  isStreamed: ({ body }) => body.stream === true,
  events,
  whole,
  failure,
  errorEvent: (error) => ({ event: "error", data: failure(Number(error.code), error) }),
  isMark: ({ event }) => event === "message_stop",
  ping: { event: "ping", data: { type: "ping" } },
};

function* events(reply: MockReply, asked: MockRequest): Generator<MockEvent> {
  const event = (type: string, fields: object = {}): MockEvent => ({ event: type, data: { type, ...fields } });
  const { stop_reason: reason, usage, ...message } = whole(reply, asked);
  const { output_tokens: _later, output_tokens_details: _too, ...input } = usage;
  yield event("message_start", {
    message: {
      ...message,
      content: [],
      stop_reason: null,
      usage: reply.usage === null ? {} : { ...input, output_tokens: 1 },
    },
  });
  yield event("ping");
  const blocks = [
    { type: "thinking", delta: "thinking_delta", field: "thinking", text: reply.reasoning },
    { type: "text", delta: "text_delta", field: "text", text: reply.search?.before },
    ...searchBlocks(reply).map((block) => ({ type: "search", delta: "", field: "", text: " ", block })),
    { type: "text", delta: "text_delta", field: "text", text: reply.text, cites: reply.search?.cited },
  ].filter(({ text }) => text);
  for (const [index, { type, delta, field, text, ...rest }] of blocks.entries()) {
    if ("block" in rest) {
      yield event("content_block_start", { index, content_block: { ...rest.block, input: {} } });
      const partial = JSON.stringify(rest.block.input);
      if (partial) {
        yield event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: partial } });
      }
      yield event("content_block_stop", { index });
      continue;
    }
    yield event("content_block_start", { index, content_block: { type, [field]: "" } });
    for (const part of pieces(text ?? "", reply.chunk)) {
      yield event("content_block_delta", { index, delta: { type: delta, [field]: part } });
    }
    for (const page of "cites" in rest ? rest.cites ?? [] : []) {
      yield event("content_block_delta", { index, delta: { type: "citations_delta", citation: citationOf(page) } });
    }
    if (type === "thinking") {
      yield event("content_block_delta", {
        index,
        delta: { type: "signature_delta", signature: "EqQBCgIYAhIM1gbcDa9" },
      });
    }
    yield event("content_block_stop", { index });
  }
  yield event("message_delta", { delta: { stop_reason: reason, stop_sequence: null, ...stopDetails(reply) }, usage });
  yield event("message_stop");
}

/** The service documents these blocks at
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool. */
function searchBlocks({ search }: MockReply) {
  return (search?.queries ?? []).flatMap((query, at) => {
    const id = `srvtoolu_${at}`;
    const pages = [...search?.cited ?? [], ...search?.found ?? []];
    const content = pages.map((page) => ({
      type: "web_search_result",
      ...page,
      encrypted_content: "EqgfCioIARgBIiQ3YTAw",
      page_age: null,
    }));
    return [
      { type: "server_tool_use", id, name: "web_search", input: { query } },
      { type: "web_search_tool_result", tool_use_id: id, content, input: undefined },
    ];
  });
}

function citationOf(page: NonNullable<MockReply["search"]>["cited"][number]): object {
  return {
    type: "web_search_result_location",
    ...page,
    encrypted_index: "Eo8BCioIAhgB",
    cited_text: "Deno 2.9 is out",
  };
}

const STOP: Readonly<Record<string, string>> = { stop: "end_turn", length: "max_tokens", content_filter: "refusal" };

function stopDetails(reply: MockReply): object {
  return reply.refusal ? { stop_details: { type: "refusal", explanation: reply.refusal } } : {};
}

function whole(
  reply: MockReply,
  asked: MockRequest,
): { stop_reason: string; usage: Readonly<Record<string, unknown>> } {
  const finish = reply.refusal ? "content_filter" : reply.finish ?? "stop";
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: reply.model ?? asked.body.model,
    content: [
      ...(reply.reasoning ? [{ type: "thinking", thinking: reply.reasoning, signature: "EqQBCgIYAhIM1gbcDa9" }] : []),
      ...searchBlocks(reply),
      ...(reply.text
        ? [{
          type: "text",
          text: reply.text,
          ...(reply.search ? { citations: reply.search.cited.map(citationOf) } : {}),
        }]
        : []),
    ],
    stop_reason: STOP[finish] ?? finish,
    stop_sequence: null,
    usage: reply.usage === null ? {} : usageOf(reply, asked),
  };
  return { ...message, ...stopDetails(reply) };
}

function usageOf(reply: MockReply, asked: MockRequest): Readonly<Record<string, unknown>> {
  if (reply.usage) return reply.usage;
  const { input, output, cached = 0, cacheWrite = 0, reasoning } = countsOf(reply, asked);
  return {
    input_tokens: cached + cacheWrite === 0 ? input : input - cached - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    output_tokens: output,
    ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
    ...(reply.search ? { server_tool_use: { web_search_requests: reply.search.queries.length } } : {}),
  };
}

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  503: "overloaded_error",
  529: "overloaded_error",
};

function failure(status: number, error: Readonly<Record<string, unknown>>): object {
  const type = TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { type: "error", error: { type, message: error.message }, request_id: "req_1" };
}
