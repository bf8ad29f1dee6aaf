import type { Image } from "../../domain/images.ts";
import { asRecord } from "../../domain/kit/json.ts";
import type { Capabilities, ModelMessage, ModelRequest, ReasoningLevel } from "../provider.ts";
import type { ReplyBuilder } from "./reply_builder.ts";
import { type CallFacts, EFFORT, type JsonFields, type ProviderApi, type WireCall } from "./wire.ts";

const BUDGET: Readonly<Record<ReasoningLevel, number>> = { quick: 1024, balanced: 8192, deep: 24_000 };
/** The service requires a limit, and this limit is ample for replies in Vis's format. */
const REPLY_TOKENS = 32_000;
const OLD_REPLY_TOKENS = 4096;

/** https://platform.claude.com/docs/en/api/messages describes this API. */
export const anthropic: ProviderApi = {
  api: "the Messages API",
  authorize: (token) => ({ "x-api-key": token }),
  request: requestOf,
  read,
  unstreamed,
  refused,
  modelsAt: (page) => ({ path: "/models", query: { limit: "1000", ...(page === null ? {} : { after_id: page }) } }),
  modelsIn,
};

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool describes the search. */
const SEARCH = { type: "web_search_20250305", name: "web_search", max_uses: 5 };

function requestOf(
  { model, messages, reasoning, search }: ModelRequest,
  { capabilities, without }: CallFacts,
): WireCall {
  const breakpoint = without.has("cache") ? -1 : messages.findLastIndex(({ cache }) => cache === true);
  const blocks = messages.map((message, at) => ({ role: message.role, blocks: blocksOf(message, at === breakpoint) }));
  const isOneMessage = capabilities.alternatingRoles;
  const system = isOneMessage ? [] : blocks.filter(({ role }) => role === "system").flatMap(({ blocks }) => blocks);
  const user = blocks.filter(({ role }) => isOneMessage || role === "user").flatMap(({ blocks }) => blocks);
  return {
    path: "/messages",
    headers: { "anthropic-version": "2023-06-01" },
    body: {
      model,
      max_tokens: without.has("max_tokens") ? OLD_REPLY_TOKENS : replyTokens(model, capabilities),
      ...(system.length > 0 ? { system } : {}),
      messages: [{ role: "user", content: user }],
      ...(without.has("stream") ? {} : { stream: true }),
      ...(search ? { tools: [SEARCH] } : {}),
      ...(capabilities.nativeReasoning ? thinking(model, { reasoning, without }) : {}),
    },
  };
}

function blocksOf({ text, images = [] }: ModelMessage, isBreakpoint: boolean): readonly JsonFields[] {
  const cache = isBreakpoint ? { cache_control: { type: "ephemeral" } } : {};
  return [...images.map(imageBlock), { type: "text", text, ...cache }];
}

function imageBlock(image: Image): JsonFields {
  return image.kind === "url"
    ? { type: "image", source: { type: "url", url: image.url } }
    : { type: "image", source: { type: "base64", media_type: image.mediaType, data: image.bytes.toBase64() } };
}

function replyTokens(model: string, capabilities: Capabilities): number {
  const version = versionOf(model);
  const known = capabilities.replyTokens ?? (version !== null && version < 3.7 ? OLD_REPLY_TOKENS : REPLY_TOKENS);
  return Math.min(known, REPLY_TOKENS);
}

/** Models from version 4.6 on accept an effort, and older models from 3.7 on a budget. */
function thinking(
  model: string,
  facts: { readonly reasoning: ReasoningLevel; readonly without: ReadonlySet<string> },
): JsonFields {
  const { reasoning, without } = facts;
  const version = versionOf(model);
  const isAdaptive = (version === null || version >= 4.6 || without.has("budget")) && !without.has("adaptive");
  if (isAdaptive) {
    const effort = without.has("effort") ? {} : { output_config: { effort: EFFORT[reasoning] } };
    return { thinking: { type: "adaptive", display: "summarized" }, ...effort };
  }
  const hasNone = without.has("budget") || (version !== null && version < 3.7);
  const limit = without.has("max_tokens") ? OLD_REPLY_TOKENS - 1024 : Infinity;
  return hasNone ? {} : { thinking: { type: "enabled", budget_tokens: Math.min(BUDGET[reasoning], limit) } };
}

/** Returns 4.6 for claude-opus-4-6-20260101 and 3.7 for claude-3-7-sonnet-latest. */
function versionOf(model: string): number | null {
  const found = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model);
  return found ? Number(`${found[1]}.${found[2] ?? 0}`) : null;
}

function read(event: JsonFields, reply: ReplyBuilder): boolean {
  const { type } = event;
  if (type === "message_start") {
    const message = asRecord(event.message);
    reply.servedBy(message.model);
    readUsage(message.usage, reply);
  } else if (type === "content_block_start") {
    const block = asRecord(event.content_block);
    reply.text(block.text);
    reply.reasoning(block.thinking);
    readSearch(block, reply);
    readCall(block, reply);
  } else if (type === "content_block_delta") {
    const delta = asRecord(event.delta);
    reply.text(delta.text);
    reply.reasoning(delta.thinking);
    readCitation(delta.citation, reply);
    reply.call({ input: delta.partial_json });
  } else if (type === "message_delta") {
    readUsage(event.usage, reply);
    readStop(asRecord(event.delta), reply);
  } else if (type === "message_stop") {
    reply.isWhole = true;
  } else return type === "content_block_stop";
  return true;
}

/** The service runs its search itself. The results are pages, or an error instead of the pages. */
function readSearch({ type, content, citations }: JsonFields, reply: ReplyBuilder): void {
  for (const citation of Array.isArray(citations) ? citations : []) readCitation(citation, reply);
  if (type !== "web_search_tool_result") return;
  reply.paragraph();
  for (const page of Array.isArray(content) ? content.map(asRecord) : []) reply.source(page, { isCited: false });
}

function readCitation(citation: unknown, reply: ReplyBuilder): void {
  const page = asRecord(citation);
  if (page.type === "web_search_result_location") reply.source(page);
}

function readCall({ type, name, input }: JsonFields, reply: ReplyBuilder): void {
  if (typeof type !== "string" || !type.endsWith("tool_use")) return;
  if (type === "server_tool_use" && name === SEARCH.name) return;
  reply.call({ name, input: Object.keys(asRecord(input)).length > 0 ? input : undefined });
}

function readStop(delta: JsonFields, reply: ReplyBuilder): void {
  const { stop_reason: reason } = delta;
  if (reason === "refusal") reply.decline(String(asRecord(delta.stop_details).explanation ?? ""));
  else if (reason === "max_tokens" || reason === "model_context_window_exceeded") reply.finish = "length";
  else if (reason === "end_turn" || reason === "stop_sequence") reply.finish = "stop";
  else if (typeof reason === "string") reply.finish = reason;
}

/** Counts are cumulative, and the input count excludes tokens that the service read from its cache or wrote to it. */
function readUsage(usage: unknown, reply: ReplyBuilder): void {
  const counts = asRecord(usage);
  const { input_tokens: plain, cache_read_input_tokens: read, cache_creation_input_tokens: written } = counts;
  reply.count({
    input: plain === undefined || plain === null ? undefined : [plain, read, written],
    output: counts.output_tokens,
    cached: read,
    cacheWrite: written || undefined,
    searches: asRecord(counts.server_tool_use).web_search_requests,
    reasoning: asRecord(counts.output_tokens_details).thinking_tokens,
  });
}

function unstreamed(body: unknown): readonly JsonFields[] | null {
  const message = asRecord(body);
  if (!Array.isArray(message.content)) return null;
  return [
    { type: "message_start", message },
    ...message.content.map((block: unknown) => ({ type: "content_block_start", content_block: block })),
    {
      type: "message_delta",
      usage: message.usage,
      delta: { ...message, stop_reason: message.stop_reason ?? "end_turn" },
    },
    { type: "message_stop" },
  ];
}

function refused(text: string): string | null {
  if (/cache_control/i.test(text)) return "cache";
  if (/max_tokens:? .{0,40}(>|maximum|exceed)/i.test(text)) return "max_tokens";
  if (/output_config|effort/i.test(text) && !/thinking\.type/i.test(text)) return "effort";
  if (/adaptive/i.test(text) && !/thinking\.type\.enabled|budget_tokens/i.test(text)) return "adaptive";
  return /thinking|budget_tokens/i.test(text) ? "budget" : null;
}

function modelsIn(body: unknown): { readonly ids: readonly string[]; readonly next: string | null } | null {
  const { data, has_more: hasMore, last_id: last } = asRecord(body);
  if (!Array.isArray(data)) return null;
  const ids = data.map((model: unknown) => asRecord(model).id).filter((id) => typeof id === "string");
  return { ids, next: hasMore === true && typeof last === "string" ? last : null };
}
