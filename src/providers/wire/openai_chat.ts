import type { Image } from "../../domain/images.ts";
import { asRecord } from "../../domain/kit/json.ts";
import type { ModelMessage, ModelRequest, ReasoningLevel } from "../provider.ts";
import type { ReplyBuilder } from "./reply_builder.ts";
import { type CallFacts, EFFORT, type JsonFields, type ProviderApi, type WireCall } from "./wire.ts";

/** https://platform.openai.com/docs/api-reference/chat describes this API. */
export function openAiChat(baseUrl: string): ProviderApi {
  const dialect = chatDialect(baseUrl);
  return {
    api: "the chat completions API",
    authorize: (token) => ({ authorization: `Bearer ${token}` }),
    request: (request, facts) => requestOf(request, { ...facts, dialect }),
    read,
    unstreamed,
    refused,
    modelsAt: () => ({ path: dialect.modelsPath }),
    modelsIn: namesIn,
  };
}

function requestOf(request: ModelRequest, facts: CallFacts & { readonly dialect: ChatDialect }): WireCall {
  const { capabilities, without, dialect } = facts;
  const { model, messages, reasoning, search } = request;
  const reasons = capabilities.nativeReasoning && !without.has("reasoning");
  return {
    path: "/chat/completions",
    headers: dialect.headers(request),
    body: {
      model,
      messages: messagesOf(messages, {
        capabilities,
        without,
        hasBreakpoints: dialect.hasBreakpoints(model) && !without.has("cache"),
      }),
      ...(without.has("stream") ? {} : { stream: true }),
      ...(without.has("stream") || without.has("stream_options") ? {} : { stream_options: { include_usage: true } }),
      ...(search && dialect.search ? { tools: [dialect.search] } : {}),
      ...(reasons ? dialect.reasoning(reasoning) : {}),
    },
  };
}

interface MessageFacts extends CallFacts {
  readonly hasBreakpoints: boolean;
}

function messagesOf(messages: readonly ModelMessage[], facts: MessageFacts): readonly JsonFields[] {
  if (!facts.capabilities.alternatingRoles && !facts.without.has("roles")) {
    const breakpoint = facts.hasBreakpoints ? messages.findLastIndex(({ cache }) => cache === true) : -1;
    return messages.map(({ role, text, images = [] }, at) => ({
      role,
      content: contentOf(text, { images, isBreakpoint: at === breakpoint }),
    }));
  }
  const images = messages.flatMap(({ images = [] }) => images);
  // Some templates accept only one user message, so this function joins the texts.
  const text = messages.map((message) => message.text).join("\n\n");
  return [{ role: "user", content: contentOf(text, { images, isBreakpoint: false }) }];
}

/** Some servers accept only a plain string. */
function contentOf(
  text: string,
  { images, isBreakpoint }: { readonly images: readonly Image[]; readonly isBreakpoint: boolean },
): unknown {
  if (images.length === 0 && !isBreakpoint) return text;
  const parts = images.map((image) => ({ type: "image_url", image_url: { url: imageUrl(image) } }));
  const cache = isBreakpoint ? { cache_control: { type: "ephemeral" } } : {};
  return [...parts, { type: "text", text, ...cache }];
}

function read(event: JsonFields, reply: ReplyBuilder): boolean {
  const choice = asRecord(Array.isArray(event.choices) ? event.choices[0] : undefined);
  const hasChoices = Array.isArray(event.choices);
  if (hasChoices) readChoice(choice, event.model, reply);
  return readUsage(event.usage ?? choice.usage, reply) || hasChoices;
}

function readChoice(choice: JsonFields, model: unknown, reply: ReplyBuilder): void {
  reply.servedBy(model);
  const { error, delta, message } = choice;
  const finish = choice.finish_reason ?? choice.finishReason;
  if (error !== undefined && error !== null) reply.failure = { error };
  // Some servers send pieces as whole messages, and other servers send the whole message so far.
  const isMessage = (delta ?? null) === null;
  const { content, refusal, annotations, ...others } = asRecord(delta ?? message);
  const reasoning = [others.reasoning_content, others.reasoning, others.reasoning_text, others.thinking];
  reply.reasoning(reasoning.find((text) => typeof text === "string" && text !== ""), { isMessage });
  readContent(content, { reply, isMessage });
  readCalls(others, reply);
  for (const annotation of Array.isArray(annotations) ? annotations.map(asRecord) : []) {
    if (annotation.type === "url_citation") reply.source(asRecord(annotation.url_citation));
  }
  reply.refusal(refusal);
  if (typeof finish === "string" && !NO_FINISH.has(finish.toLowerCase())) readFinish(finish, reply);
}

const NO_FINISH = new Set(["", "null", "none", "undefined"]);

function readCalls({ tool_calls: calls, function_call: call }: JsonFields, reply: ReplyBuilder): void {
  const first = Array.isArray(calls) ? calls.map(asRecord).find(({ index }) => !index) : undefined;
  const { name, arguments: input } = asRecord(first?.function ?? first?.custom ?? call);
  reply.call({ name, input });
}

function readContent(
  content: unknown,
  { reply, isMessage }: { readonly reply: ReplyBuilder; readonly isMessage: boolean },
): void {
  if (!Array.isArray(content)) return reply.text(content, { isMessage });
  for (const part of content.map(asRecord)) {
    if (typeof part.type !== "string" || /^(output_)?text$/.test(part.type)) reply.text(part.text, { isMessage });
    else if (/think|reason/.test(part.type)) {
      const thoughts = part.thinking ?? part.reasoning ?? part.summary ?? part.text;
      for (const thought of Array.isArray(thoughts) ? thoughts : [thoughts]) {
        reply.reasoning(asRecord(thought).text ?? thought, { isMessage });
      }
    }
  }
}

const LENGTH = new Set(["length", "max_tokens", "model_length", "model_context_window_exceeded"]);
/** With these finish reasons, the service ended the reply before the model did. */
const BROKEN = new Set(["error", "network_error", "insufficient_system_resource", "abort"]);

function readFinish(finish: string, reply: ReplyBuilder): void {
  if (finish === "content_filter" || finish === "sensitive") return reply.decline("");
  if (BROKEN.has(finish)) {
    return void (reply.failure = { error: { message: `The model ended with an error (${finish})`, code: 502 } });
  }
  reply.finish = LENGTH.has(finish) ? "length" : finish;
}

function readUsage(usage: unknown, reply: ReplyBuilder): boolean {
  if (typeof usage !== "object" || usage === null) return false;
  const counts = asRecord(usage);
  const input = asRecord(counts.prompt_tokens_details);
  const output = asRecord(counts.completion_tokens_details);
  reply.count({
    input: counts.prompt_tokens,
    output: counts.completion_tokens,
    cached: input.cached_tokens || counts.prompt_cache_hit_tokens || counts.cached_tokens,
    cacheWrite: input.cache_write_tokens || undefined,
    reasoning: output.reasoning_tokens,
    searches: asRecord(counts.server_tool_use).web_search_requests,
  });
  return true;
}

function unstreamed(body: unknown): readonly JsonFields[] | null {
  const { choices, model, usage } = asRecord(body);
  if (!Array.isArray(choices)) return null;
  const choice = asRecord(choices[0]);
  return [{ model, usage, choices: [{ delta: choice.message, finish_reason: choice.finish_reason ?? "stop" }] }];
}

/** Some servers do not support `stream_options`, some models have no effort, and some templates have no system role. */
function refused(text: string): string | null {
  if (/stream_options|include_usage/i.test(text)) return "stream_options";
  if (/cache_control/i.test(text)) return "cache";
  if (/reasoning|thinking|effort/i.test(text)) return "reasoning";
  const isAboutRoles = /roles must alternate|system role|role.{0,20}system|system.{0,20}not supported/i.test(text);
  return isAboutRoles ? "roles" : null;
}

interface ChatDialect {
  reasoning(level: ReasoningLevel): JsonFields;
  headers(request: ModelRequest): Readonly<Record<string, string>>;
  readonly modelsPath: string;
  hasBreakpoints(model: string): boolean;
  /** The tool lets the model search the web at the service; null if Vis knows no search of the service in this API. */
  readonly search: JsonFields | null;
}

const OPENAI: ChatDialect = {
  reasoning: (level) => ({ reasoning_effort: EFFORT[level] }),
  headers: () => ({}),
  modelsPath: "/models",
  hasBreakpoints: () => false,
  search: null,
};

/** Users may choose the name of the service, so its address selects the dialect. */
const DIALECTS: readonly (readonly [RegExp, Partial<ChatDialect>])[] = [
  // These pages describe the fields: https://openrouter.ai/docs/use-cases/reasoning-tokens,
  // https://openrouter.ai/docs/features/prompt-caching, and
  // https://openrouter.ai/docs/guides/features/server-tools/web-search.
  [/^https:\/\/openrouter\.ai\//, {
    reasoning: (level) => ({ reasoning: { effort: EFFORT[level] } }),
    hasBreakpoints: (model) => model.startsWith("anthropic/"),
    search: { type: "openrouter:web_search" },
  }],
  // https://docs.z.ai/guides/capabilities/thinking-mode describes the field.
  [/\/api(\/coding)?\/paas\/v\d/, {
    reasoning: (level) => ({ thinking: { type: level === "quick" ? "disabled" : "enabled" } }),
  }],
  // https://help.aliyun.com/en/model-studio/deep-thinking describes the field.
  [/\/compatible-mode\/v\d/, { reasoning: (level) => ({ enable_thinking: level !== "quick" }) }],
  // Copilot reads images only with this header.
  [/^https:\/\/api\.([\w-]+\.)?githubcopilot\.com/, {
    headers: ({ messages }) =>
      messages.some(({ images }) => images?.length) ? { "copilot-vision-request": "true" } : {},
  }],
  // The list of models is beside the inference path (https://docs.github.com/en/rest/models/catalog).
  [/^https:\/\/models\.github\.ai\/inference/, { modelsPath: "/../catalog/models" }],
];

export function chatDialect(baseUrl: string): ChatDialect {
  const found = DIALECTS.find(([address]) => address.test(baseUrl.trim()));
  return { ...OPENAI, ...found?.[1] };
}

export function imageUrl(image: Image): string {
  return image.kind === "url" ? image.url : `data:${image.mediaType};base64,${image.bytes.toBase64()}`;
}

export function namesIn(body: unknown): { readonly ids: readonly string[]; readonly next: null } | null {
  const { data, models } = asRecord(body);
  const list = [body, data, models].find(Array.isArray);
  if (list === undefined) return null;
  const ids = list.map((item: unknown) => asRecord(item).id ?? asRecord(item).name ?? item);
  return { ids: ids.filter((id: unknown) => typeof id === "string"), next: null };
}
