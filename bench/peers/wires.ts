export type Wire = "vis" | "chat" | "responses" | "anthropic";

export interface Tool {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export type Reply = { readonly tool: Tool; readonly args: object } | { readonly text: string };

type Body = Readonly<Record<string, unknown>>;
type Item = Readonly<Record<string, unknown>>;

interface WireParts {
  readonly path: string;
  readonly tools: (body: Body) => readonly Tool[];
  readonly parts: (body: Body) => readonly unknown[];
  readonly reply: (reply: Reply, tokens: number) => readonly object[];
  readonly named: boolean;
}

export const WIRES: Readonly<Record<Wire, WireParts>> = {
  vis: { path: "/v1/chat/completions", tools: () => [], parts: chatParts, reply: chatReply, named: false },
  chat: { path: "/v1/chat/completions", tools: chatTools, parts: chatParts, reply: chatReply, named: false },
  responses: {
    path: "/v1/responses",
    tools: (body) => itemsOf(body["tools"]).flatMap((one) => one["type"] === "function" ? [toolOf(one)] : []),
    parts: (body) => [body["tools"], body["instructions"], ...itemsOf(body["input"])],
    reply: responsesReply,
    named: true,
  },
  anthropic: {
    path: "/v1/messages",
    tools: (body) => itemsOf(body["tools"]).map(toolOf),
    parts: (body) => [body["tools"], ...itemsOf(body["system"]), ...itemsOf(body["messages"])],
    reply: anthropicReply,
    named: true,
  },
};

function itemsOf(value: unknown): readonly Item[] {
  return Array.isArray(value) ? value : [];
}

function toolOf(item: Item): Tool {
  return { name: String(item["name"] ?? ""), schema: Object(item["parameters"] ?? item["input_schema"]) };
}

function chatTools(body: Body): readonly Tool[] {
  return itemsOf(body["tools"]).map(({ function: called }) => toolOf(Object(called)));
}

function chatParts(body: Body): readonly unknown[] {
  return [body["tools"], ...itemsOf(body["messages"])];
}

function chatReply(reply: Reply, tokens: number): readonly object[] {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "bench" };
  const chunk = (delta: object, finish: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const usage = { prompt_tokens: tokens, completion_tokens: 20, total_tokens: tokens + 20 };
  const end = { ...head, choices: [], usage };
  if ("text" in reply) {
    return [chunk({ role: "assistant", content: "" }), chunk({ content: reply.text }), chunk({}, "stop"), end];
  }
  const called = { name: reply.tool.name, arguments: JSON.stringify(reply.args) };
  const call = { index: 0, id: idOf("call"), type: "function", function: called };
  return [chunk({ role: "assistant", content: null, tool_calls: [call] }), chunk({}, "tool_calls"), end];
}

function responsesReply(reply: Reply, tokens: number): readonly object[] {
  const item = "text" in reply
    ? {
      ...{ id: idOf("msg"), type: "message", role: "assistant", status: "completed" },
      content: [{ type: "output_text", text: reply.text, annotations: [] }],
    }
    : {
      ...{ id: idOf("fc"), type: "function_call", status: "completed", call_id: idOf("call") },
      ...{ name: reply.tool.name, arguments: JSON.stringify(reply.args) },
    };
  const usage = {
    ...{ input_tokens: tokens, output_tokens: 20, total_tokens: tokens + 20 },
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const response = { id: idOf("resp"), object: "response", created_at: 1, model: "bench", output: [], usage: null };
  return [
    { type: "response.created", response: { ...response, status: "in_progress" } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...response, status: "completed", output: [item], usage } },
  ].map((event, at) => ({ ...event, sequence_number: at }));
}

function anthropicReply(reply: Reply, tokens: number): readonly object[] {
  const isText = "text" in reply;
  const usage = { input_tokens: tokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 };
  const message = {
    ...{ id: idOf("msg"), type: "message", role: "assistant", model: "bench", content: [], stop_reason: null },
    usage,
  };
  const block = isText
    ? { type: "text", text: "" }
    : { type: "tool_use", id: idOf("toolu"), name: reply.tool.name, input: {} };
  const delta = isText
    ? { type: "text_delta", text: reply.text }
    : { type: "input_json_delta", partial_json: JSON.stringify(reply.args) };
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: isText ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: 20 },
    },
    { type: "message_stop" },
  ];
}

function idOf(kind: string): string {
  return `${kind}_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
}
