import { countsOf, type MockEvent, type MockWire, pieces } from "./mock_wire.ts";
import type { MockReply, MockRequest } from "./wire_mock.ts";

/** The service documents this format at https://platform.openai.com/docs/api-reference/responses-streaming. */
export const openAiResponsesWire: MockWire = {
  base: "/v1",
  isRequest: (pathname) => pathname === "/v1/responses",
  keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
  listing: (models) => ({ object: "list", data: models.map((id) => ({ id, object: "model" })) }),
  textsOf: (body) =>
    (body.input ?? []).map(({ content }: { content: { text?: string }[] }) =>
      content.map(({ text }) => text).filter((text) => text !== undefined).join("\n")
    ),
  isStreamed: ({ body }) => body.stream === true,
  events,
  whole: (reply, asked) => response(reply, asked, itemsOf(reply)),
  failure: (_status, error) => ({ error: { type: null, param: null, code: null, ...error } }),
  errorEvent: (error) => ({
    event: "error",
    data: { type: "error", sequence_number: 7, message: error.message, code: String(error.code), param: null },
  }),
  isMark: () => false,
  ping: { event: "keepalive", data: { type: "keepalive", sequence_number: 6 } },
};

function* events(reply: MockReply, asked: MockRequest): Generator<MockEvent> {
  let number = 0;
  const event = (type: string, fields: object): MockEvent => ({
    event: type,
    data: { type, sequence_number: number++, ...fields },
  });
  const started = { ...response(reply, asked, []), status: "in_progress", usage: null };
  yield event("response.created", { response: started });
  yield event("response.in_progress", { response: started });
  if (reply.reasoning) {
    const at = { item_id: "rs_1", output_index: 0, summary_index: 0 };
    yield event("response.output_item.added", {
      output_index: 0,
      item: { id: "rs_1", type: "reasoning", summary: [] },
    });
    yield event("response.reasoning_summary_part.added", { ...at, part: { type: "summary_text", text: "" } });
    for (const delta of pieces(reply.reasoning, reply.chunk)) {
      yield event("response.reasoning_summary_text.delta", { ...at, delta });
    }
    yield event("response.reasoning_summary_text.done", { ...at, text: reply.reasoning });
  }
  for (const [index, item] of searchItems(reply).entries()) {
    const { action: _later, ...begun } = item;
    yield event("response.output_item.added", { output_index: index, item: { ...begun, status: "in_progress" } });
    yield event("response.web_search_call.searching", { output_index: index, item_id: item.id });
    yield event("response.output_item.done", { output_index: index, item });
  }
  const at = { item_id: "msg_1", output_index: 1, content_index: 0 };
  yield event("response.content_part.added", { ...at, part: { type: "output_text", text: "", annotations: [] } });
  for (const delta of pieces(reply.text ?? "", reply.chunk)) {
    yield event("response.output_text.delta", { ...at, delta });
  }
  for (const delta of pieces(reply.refusal ?? "", reply.chunk)) yield event("response.refusal.delta", { ...at, delta });
  for (const [index, annotation] of annotationsOf(reply).entries()) {
    yield event("response.output_text.annotation.added", { ...at, annotation_index: index, annotation });
  }
  yield event("response.output_text.done", { ...at, text: reply.text ?? "" });
  const last = response(reply, asked, itemsOf(reply));
  yield event(last.status === "completed" ? "response.completed" : "response.incomplete", { response: last });
}

function itemsOf(reply: MockReply): readonly object[] {
  const content = reply.refusal
    ? [{ type: "refusal", refusal: reply.refusal }]
    : [{ type: "output_text", text: reply.text ?? "", annotations: annotationsOf(reply) }];
  return [
    ...(reply.reasoning
      ? [{ id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: reply.reasoning }] }]
      : []),
    ...searchItems(reply),
    { id: "msg_1", type: "message", role: "assistant", status: "completed", content },
  ];
}

/** The service documents these items at https://platform.openai.com/docs/guides/tools-web-search. The model opens a
 * page after its searches. */
function searchItems({ search }: MockReply) {
  if (!search) return [];
  const [page] = search.cited;
  const actions = [
    ...search.queries.map((query) => ({ type: "search", query, queries: [query] })),
    ...(page ? [{ type: "open_page", url: page.url }] : []),
  ];
  return actions.map((action, at) => ({ id: `ws_${at}`, type: "web_search_call", status: "completed", action }));
}

function annotationsOf({ search, text = "" }: MockReply): readonly object[] {
  return (search?.cited ?? []).map((page) => ({
    type: "url_citation",
    start_index: 0,
    end_index: text.length,
    ...page,
  }));
}

const INCOMPLETE: Readonly<Record<string, string>> = { length: "max_output_tokens", content_filter: "content_filter" };

function response(reply: MockReply, asked: MockRequest, output: readonly object[]): { readonly status: string } {
  const reason = INCOMPLETE[reply.finish ?? "stop"];
  const shape = {
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    error: null,
    status: reason ? "incomplete" : "completed",
    incomplete_details: reason ? { reason } : null,
    model: reply.model ?? asked.body.model,
    output,
  };
  return reply.usage === null ? shape : { ...shape, ...{ usage: usageOf(reply, asked) } };
}

function usageOf(reply: MockReply, asked: MockRequest): object {
  if (reply.usage) return reply.usage;
  const { input, output, cached = 0, reasoning = 0 } = countsOf(reply, asked);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
