import { asRecord } from "../../domain/kit/json.ts";
import type { ModelMessage, ModelRequest } from "../provider.ts";
import { chatDialect, imageUrl, namesIn } from "./openai_chat.ts";
import type { ReplyBuilder } from "./reply_builder.ts";
import { type CallFacts, EFFORT, type JsonFields, type ProviderApi } from "./wire.ts";

/** https://platform.openai.com/docs/api-reference/responses-streaming describes this API. */
export function openAiResponses(baseUrl: string): ProviderApi {
  const { headers } = chatDialect(baseUrl);
  return {
    api: "the Responses API",
    authorize: (token) => ({ authorization: `Bearer ${token}` }),
    request: (request, facts) => ({ path: "/responses", headers: headers(request), body: bodyOf(request, facts) }),
    read,
    unstreamed,
    refused,
    modelsAt: () => ({ path: "/models" }),
    modelsIn: namesIn,
  };
}

function bodyOf(
  { model, messages, reasoning, search }: ModelRequest,
  { capabilities, without }: CallFacts,
): JsonFields {
  const isOneMessage = capabilities.alternatingRoles || without.has("roles");
  const reasons = capabilities.nativeReasoning && !without.has("reasoning");
  const summary = without.has("summary") ? {} : { summary: "auto" };
  return {
    model,
    input: isOneMessage
      ? [{ role: "user", content: messages.flatMap(partsOf) }]
      : messages.map((message) => ({ role: message.role, content: partsOf(message) })),
    ...(without.has("stream") ? {} : { stream: true }),
    // Vis asks the service to store no conversation, so each call has the whole prompt.
    ...(without.has("store") ? {} : { store: false }),
    // https://platform.openai.com/docs/guides/tools-web-search describes the search.
    ...(search ? { tools: [{ type: "web_search" }] } : {}),
    ...(reasons ? { reasoning: { effort: EFFORT[reasoning], ...summary } } : {}),
  };
}

function partsOf({ text, images = [] }: ModelMessage): readonly JsonFields[] {
  const shown = images.map((image) => ({ type: "input_image", image_url: imageUrl(image) }));
  return [...shown, { type: "input_text", text }];
}

function read(event: JsonFields, reply: ReplyBuilder): boolean {
  const { type, delta, response, item, text, annotation } = event;
  if (type === "response.output_text.delta") reply.text(delta);
  else if (type === "response.reasoning_summary_text.delta") reply.reasoning(delta);
  else if (type === "response.reasoning_text.delta") reply.reasoning(delta);
  else if (type === "response.reasoning_summary_part.added" && Number(event.summary_index) > 0) reply.reasoning("\n\n");
  else if (type === "response.output_text.done") reply.whole("text", text);
  else if (type === "response.output_item.added") {
    if (asRecord(item).type === "web_search_call") reply.paragraph();
    readCall(asRecord(item), reply);
  } else if (type === "response.output_item.done" && isSearch(asRecord(item))) reply.searched();
  else if (type === "response.function_call_arguments.delta") reply.call({ input: delta });
  else if (type === "response.output_text.annotation.added") readCitation(annotation, reply);
  else if (type === "response.refusal.delta") reply.refusal(delta);
  else if (type === "response.created" || type === "response.in_progress") reply.servedBy(asRecord(response).model);
  else if (type === "response.completed" || type === "response.incomplete") readEnd(asRecord(response), reply);
  else if (type === "response.failed") {
    reply.failure = { error: asRecord(response).error ?? { message: "The response failed" } };
  } else if (type === "error") reply.failure = event;
  else return typeof type === "string" && type.startsWith("response.");
  return true;
}

function readEnd(response: JsonFields, reply: ReplyBuilder): void {
  reply.servedBy(response.model);
  const { reason } = asRecord(response.incomplete_details);
  if (reason === "content_filter") reply.decline("");
  else if (reason === "max_output_tokens") reply.finish = "length";
  else reply.finish = typeof reason === "string" ? reason : "stop";
  readOutput(response.output, reply);
  reply.takeWhole();
  const usage = asRecord(response.usage);
  reply.count({
    input: usage.input_tokens,
    output: usage.output_tokens,
    cached: asRecord(usage.input_tokens_details).cached_tokens,
    reasoning: asRecord(usage.output_tokens_details).reasoning_tokens,
    searches: partsIn(response.output).filter(isSearch).length || undefined,
  });
  reply.isWhole = true;
}

/** The service charges searches, but not the pages that the model then opens. */
function isSearch({ type, action }: JsonFields): boolean {
  return type === "web_search_call" && (asRecord(action).type ?? "search") === "search";
}

function readCitation(annotation: unknown, reply: ReplyBuilder): void {
  const page = asRecord(annotation);
  if (page.type === "url_citation") reply.source(page);
}

function readCall({ type, name, arguments: input, input: text }: JsonFields, reply: ReplyBuilder): void {
  if (type === "web_search_call") return;
  if (typeof type === "string" && type.endsWith("_call")) reply.call({ name: name ?? type, input: input || text });
}

function readOutput(output: unknown, reply: ReplyBuilder): void {
  const items = partsIn(output);
  if (items.some(({ content }) => partsIn(content).length > 0)) reply.forgetWhole();
  for (const item of items) {
    readCall(item, reply);
    for (const { text } of partsIn(item.summary)) reply.whole("reasoning", text);
    for (const { type, text, refusal, annotations } of partsIn(item.content)) {
      for (const annotation of Array.isArray(annotations) ? annotations : []) readCitation(annotation, reply);
      const isThought = item.type === "reasoning" || /think|reason/.test(String(type));
      if (type === "refusal") reply.refusal(refusal);
      else reply.whole(isThought ? "reasoning" : "text", text);
    }
  }
}

/** The last event of a stream contains the whole reply, so a body without a stream has the form of that event. */
function unstreamed(body: unknown): readonly JsonFields[] | null {
  const response = asRecord(body);
  if (!Array.isArray(response.output)) return null;
  return [{ type: response.status === "failed" ? "response.failed" : "response.completed", response }];
}

function partsIn(parts: unknown): readonly JsonFields[] {
  if (typeof parts === "string") return [{ text: parts }];
  return Array.isArray(parts) ? parts.map(asRecord) : [];
}

/** Summaries require a verified organisation, and efforts require a model that reasons. */
function refused(text: string): string | null {
  if (/summar/i.test(text)) return "summary";
  if (/\bstore\b/i.test(text)) return "store";
  if (/reasoning|effort/i.test(text)) return "reasoning";
  return /roles must alternate|system role/i.test(text) ? "roles" : null;
}
