import type { Image } from "../../domain/images.ts";
import { asRecord } from "../../domain/kit/json.ts";
import type { ModelMessage, ModelRequest, ReasoningLevel } from "../provider.ts";
import type { ReplyBuilder } from "./reply_builder.ts";
import { type CallFacts, EFFORT, type JsonFields, type ProviderApi, type WireCall } from "./wire.ts";

const BUDGET: Readonly<Record<ReasoningLevel, number>> = { quick: 1024, balanced: 8192, deep: 24_000 };
const DECLINED = new Set([
  ...["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"],
  ...["IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"],
]);
/** These finish reasons mean that the model called a tool, although Vis offers none. */
const CALLED = new Set(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"]);
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  heif: "image/heif",
};

/** The API is https://ai.google.dev/api/generate-content. */
export const google: ProviderApi = {
  api: "the Gemini API",
  authorize: (token) => ({ "x-goog-api-key": token }),
  request: requestOf,
  read,
  unstreamed,
  refused,
  modelsAt: (page) => ({ path: "/models", query: { pageSize: "1000", ...(page === null ? {} : { pageToken: page }) } }),
  modelsIn,
};

function requestOf(
  { model, messages, reasoning, search }: ModelRequest,
  { capabilities, without }: CallFacts,
): WireCall {
  const isOneMessage = capabilities.alternatingRoles || without.has("roles");
  const system = isOneMessage ? [] : messages.filter(({ role }) => role === "system");
  const user = isOneMessage ? messages : messages.filter(({ role }) => role === "user");
  const reasons = capabilities.nativeReasoning && !without.has("thinking");
  return {
    ...(without.has("stream")
      ? { path: `/${pathOf(model)}:generateContent` }
      : { path: `/${pathOf(model)}:streamGenerateContent`, query: { alt: "sse" } }),
    body: {
      ...(system.length > 0 ? { systemInstruction: { parts: system.flatMap(partsOf) } } : {}),
      contents: [{ role: "user", parts: user.flatMap(partsOf) }],
      // https://ai.google.dev/gemini-api/docs/google-search describes the search.
      ...(search ? { tools: [{ google_search: {} }] } : {}),
      ...(reasons ? { generationConfig: { thinkingConfig: thinking(model, { reasoning, without }) } } : {}),
    },
  };
}

function pathOf(model: string): string {
  const name = model.includes("/") ? model : `models/${model}`;
  return name.split("/").map(encodeURIComponent).join("/");
}

/** The service refuses a call with a budget and a level. */
function thinking(
  model: string,
  facts: { readonly reasoning: ReasoningLevel; readonly without: ReadonlySet<string> },
): JsonFields {
  const { reasoning, without } = facts;
  const hasBudget = /gemini-(1|2)([.-]|$)|robotics-er-1/.test(model) || without.has("level");
  if (hasBudget && !without.has("budget")) return { includeThoughts: true, thinkingBudget: BUDGET[reasoning] };
  return { includeThoughts: true, ...(without.has("level") ? {} : { thinkingLevel: EFFORT[reasoning] }) };
}

function partsOf({ text, images = [] }: ModelMessage): readonly JsonFields[] {
  return [...images.map(imagePart), { text }];
}

function imagePart(image: Image): JsonFields {
  if (image.kind === "bytes") return { inlineData: { mimeType: image.mediaType, data: image.bytes.toBase64() } };
  const ending = /\.(\w+)$/.exec(URL.parse(image.url)?.pathname ?? "")?.[1]?.toLowerCase();
  const mimeType = IMAGE_TYPES[ending ?? ""];
  return { fileData: { ...(mimeType ? { mimeType } : {}), fileUri: image.url } };
}

function read(event: JsonFields, reply: ReplyBuilder): boolean {
  const { candidates, usageMetadata: usage, promptFeedback: feedback, modelVersion } = event;
  if (!Array.isArray(candidates) && usage === undefined && feedback === undefined) return false;
  reply.servedBy(modelVersion);
  const { blockReason, blockReasonMessage } = asRecord(feedback);
  const isBlocked = typeof blockReason === "string" && !blockReason.endsWith("_UNSPECIFIED");
  if (isBlocked) reply.decline(String(blockReasonMessage ?? `the request was blocked (${blockReason})`));
  const candidate = asRecord(Array.isArray(candidates) ? candidates[0] : undefined);
  const { parts } = asRecord(candidate.content);
  for (const part of Array.isArray(parts) ? parts.map(asRecord) : []) {
    if (part.thought === true) reply.reasoning(part.text);
    else reply.text(part.text);
    const { name, args } = asRecord(part.functionCall);
    reply.call({ name, input: args });
  }
  readFinish(candidate, reply);
  const { groundingChunks: pages, webSearchQueries: queries } = asRecord(candidate.groundingMetadata);
  for (const page of Array.isArray(pages) ? pages.map(asRecord) : []) {
    const { uri: url, title } = asRecord(page.web);
    reply.source({ url, title });
  }
  readUsage(usage, reply, Array.isArray(queries) ? queries.length : undefined);
  return true;
}

function readFinish({ finishReason: reason, finishMessage: said }: JsonFields, reply: ReplyBuilder): void {
  if (typeof reason !== "string" || reason === "FINISH_REASON_UNSPECIFIED") return;
  if (DECLINED.has(reason)) return reply.decline(String(said ?? reason));
  if (reason === "STOP") return void (reply.finish = "stop");
  if (CALLED.has(reason)) {
    reply.call({ name: String(said ?? reason).replace(/^malformed function call:?\s*/i, "") || reason });
  }
  reply.finish = reason === "MAX_TOKENS" ? "length" : reason.toLowerCase();
}

/** Counts are cumulative. The candidates' tokens exclude thoughts, and the tokens of the prompt exclude found pages. */
function readUsage(usage: unknown, reply: ReplyBuilder, searches: number | undefined): void {
  const counts = asRecord(usage);
  const { candidatesTokenCount: candidates, thoughtsTokenCount: thoughts } = counts;
  reply.count({
    input: [counts.promptTokenCount, counts.toolUsePromptTokenCount],
    output: [candidates, thoughts],
    cached: counts.cachedContentTokenCount,
    reasoning: thoughts,
    searches,
  });
}

/** If a proxy removes `alt=sse`, the service sends a list of the events. */
function unstreamed(body: unknown): readonly JsonFields[] | null {
  if (Array.isArray(body)) return body.map(asRecord);
  const event = asRecord(body);
  return event.candidates !== undefined || event.promptFeedback !== undefined ? [event] : null;
}

function refused(text: string): string | null {
  if (/thinking.?level/i.test(text)) return "level";
  if (/thinking.?budget/i.test(text)) return "budget";
  if (/thinking|includeThoughts/i.test(text)) return "thinking";
  return /(developer|system).?instruction/i.test(text) ? "roles" : null;
}

function modelsIn(body: unknown): { readonly ids: readonly string[]; readonly next: string | null } | null {
  const { models, nextPageToken: next } = asRecord(body);
  if (!Array.isArray(models)) return null;
  const ids = models.map(asRecord)
    .filter(({ supportedGenerationMethods: methods }) => !Array.isArray(methods) || methods.includes("generateContent"))
    .map(({ name }) => typeof name === "string" ? name.replace(/^models\//, "") : null)
    .filter((id) => id !== null);
  return { ids, next: typeof next === "string" && next !== "" ? next : null };
}
