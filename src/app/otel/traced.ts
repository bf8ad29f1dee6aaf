import { type ConversationParts, Conversations } from "../../conversation/conversations.ts";
import { Cancelled, ProviderError } from "../../domain/errors.ts";
import { type Emit, isEnd } from "../../domain/query/query_event.ts";
import type { QueryEvent, QueryResult, Usage } from "../../domain/query/query_schemas.ts";
import type { ModelEvent, ModelRequest, Provider } from "../../providers/provider.ts";
import type { Attribute, Span, SpanContext, SpanParent, Tracer } from "./telemetry.ts";

const MAX_TOOL_SPANS = 1_000;

type Around = NonNullable<ConversationParts["around"]>;
type Of<T extends QueryEvent["type"]> = Extract<QueryEvent, { readonly type: T }>;

export function tracedConversations(parts: ConversationParts, tracer: Tracer): Conversations {
  const inner: Around = parts.around ?? ((_branch, emit, run) => run(emit));
  const around: Around = async (branch, emit, run, watchHook) => {
    const spans = new QuerySpans(tracer);
    const observed: Emit = (event) => {
      spans.event(event);
      emit(event);
    };
    try {
      return await tracer.within(spans, () => inner(branch, observed, run, watchHook));
    } catch (error) {
      spans.close(error);
      throw error;
    }
  };
  return new Conversations({ ...parts, around });
}

class QuerySpans implements SpanParent {
  readonly #tracer: Tracer;
  readonly #outer: SpanContext | null;
  readonly #queries = new Map<string, Span>();
  readonly #tools = new Map<string, Span>();
  #root: Span | null = null;
  #count = 0;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
    this.#outer = tracer.current;
  }

  span(): SpanContext | null {
    return this.#root?.context ?? this.#outer;
  }

  event(event: QueryEvent): void {
    if (event.type === "started") return this.#started(event);
    const query = this.#queries.get(event.queryId);
    if (!query) return;
    if (event.type === "block_started") this.#tool(event, { key: keyOf(event), name: "typescript", parent: query });
    if (event.type === "block_finished") this.#blockEnded(event);
    if (event.type === "host_call") this.#call(event, query);
    if (isEnd(event)) this.#ended(event, query);
  }

  /** A query that throws sends no end event, so the caller ends its spans here. */
  close(error: unknown): void {
    for (const tool of this.#tools.values()) tool.end();
    for (const query of this.#queries.values()) {
      query.fail("defect", error instanceof Error ? error.name : "unknown").end();
    }
  }

  #started({ queryId, parentQueryId, conversationId, model }: Of<"started">): void {
    const parent = this.#queries.get(parentQueryId ?? "")?.context ?? this.#outer;
    const span = this.#tracer.start("invoke_agent vis", { parent });
    span.set({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "vis",
      "gen_ai.conversation.id": conversationId,
      "gen_ai.request.model": model,
      "vis.query.id": queryId,
    });
    this.#queries.set(queryId, span);
    this.#root ??= span;
  }

  #call({ block, name, phase, ok, ...event }: Of<"host_call">, query: Span): void {
    const parent = this.#tools.get(keyOf({ ...event, block })) ?? query;
    const key = `${keyOf({ ...event, block })} ${name}`;
    if (phase === "start") return this.#tool(event, { key, name, parent });
    const span = this.#tools.get(key);
    if (ok === false) span?.fail("call_failed", "The call failed");
    this.#toolEnded(key);
  }

  #tool(
    { iteration }: Pick<QueryEvent, "iteration">,
    { key, name, parent }: { readonly key: string; readonly name: string; readonly parent: Span },
  ): void {
    if (++this.#count > MAX_TOOL_SPANS) return;
    const span = this.#tracer.start(`execute_tool ${name}`, { parent: parent.context });
    span.set({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
      "gen_ai.tool.type": name === "typescript" ? "extension" : "function",
      "vis.iteration": iteration,
    });
    // Calls with the same key may overlap, so a new call ends the span of the earlier call.
    this.#tools.get(key)?.end();
    this.#tools.set(key, span);
  }

  #blockEnded(event: Of<"block_finished">): void {
    const { ok, outcome, error } = event.result;
    const span = this.#tools.get(keyOf(event))?.set({ "vis.block.outcome": outcome });
    if (!ok) span?.fail(error?.name ?? outcome, outcome);
    this.#toolEnded(keyOf(event));
  }

  #toolEnded(key: string): void {
    this.#tools.get(key)?.end();
    this.#tools.delete(key);
  }

  #ended({ queryId, result }: Of<"final" | "failed" | "cancelled">, query: Span): void {
    for (const tool of this.#tools.values()) if (query === this.#root) tool.end();
    query.set({ ...resultAttributes(result), ...this.#leftOut(query) });
    if (result.status !== "done") query.fail(result.reason, result.reason);
    query.end();
    this.#queries.delete(queryId);
  }

  #leftOut(query: Span): Record<string, number> {
    const more = this.#count - MAX_TOOL_SPANS;
    return more > 0 && query === this.#root ? { "vis.tool_spans.left_out": more } : {};
  }
}

function keyOf({ queryId, iteration, block }: Pick<QueryEvent, "queryId" | "iteration"> & { readonly block: number }) {
  return `${queryId} ${iteration} ${block}`;
}

function resultAttributes({ usage, costUsd, iterations, reason, confidence }: QueryResult) {
  return {
    ...usageAttributes(usage),
    "gen_ai.response.finish_reasons": [reason],
    "vis.iterations": iterations,
    ...(confidence === null ? {} : { "vis.confidence": confidence }),
    "vis.cost_us_dollars": costUsd,
  };
}

export function tracedProvider(provider: Provider, tracer: Tracer): Provider {
  return {
    name: provider.name,
    defaultModel: provider.defaultModel,
    models: (options) => provider.models(options),
    capabilities: (model) => provider.capabilities(model),
    stream: (request) => tracedStream(provider, { request, tracer }),
  };
}

async function* tracedStream(
  provider: Provider,
  { request, tracer }: { readonly request: ModelRequest; readonly tracer: Tracer },
): AsyncGenerator<ModelEvent> {
  const span = tracer.start(`chat ${request.model}`, { kind: "client" });
  const begun = performance.now();
  span.set({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": providerName(provider.name),
    "gen_ai.request.model": request.model,
    "gen_ai.request.stream": true,
  });
  let isFirst = true;
  let taken: Usage | null = null;
  const onUsage = (usage: Usage | null): void => {
    taken = usage;
    request.onUsage?.(usage);
  };
  try {
    for await (const event of provider.stream({ ...request, onUsage })) {
      if (isFirst) span.set({ "gen_ai.response.time_to_first_chunk": (performance.now() - begun) / 1000 });
      isFirst = false;
      if (event.type === "end") endOf(span, event);
      yield event;
    }
  } catch (error) {
    failed(span, error);
    throw error;
  } finally {
    if (taken) span.set(usageAttributes(taken));
    span.end();
  }
}

function endOf(span: Span, { usage, model, finish }: Extract<ModelEvent, { type: "end" }>): void {
  span.set({
    ...usageAttributes(usage),
    "gen_ai.response.model": model,
    "gen_ai.response.finish_reasons": [finish],
  });
}

function failed(span: Span, error: unknown): void {
  if (error instanceof Cancelled) return void span.fail("cancelled", "Cancelled");
  if (!(error instanceof ProviderError)) {
    return void span.fail("defect", error instanceof Error ? error.name : "unknown");
  }
  span.fail(error.status === null ? error.code : String(error.status), error.code);
}

/** OpenTelemetry's conventions for generative AI (semantic-conventions v1.45) define these names of providers. */
const PROVIDERS: Readonly<Record<string, string>> = {
  gemini: "gcp.gemini",
  google: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  bedrock: "aws.bedrock",
  azure: "azure.ai.openai",
  mistral: "mistral_ai",
  "openai-responses": "openai",
  xai: "x_ai",
};

function providerName(name: string): string {
  return PROVIDERS[name] ?? name;
}

function usageAttributes(
  { input, output, cached, cacheWrite = 0, reasoning, estimated = 0 }: Usage,
): Record<string, Attribute> {
  return {
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
    ...(cached > 0 ? { "gen_ai.usage.cache_read.input_tokens": cached } : {}),
    ...(cacheWrite > 0 ? { "gen_ai.usage.cache_creation.input_tokens": cacheWrite } : {}),
    ...(reasoning > 0 ? { "gen_ai.usage.reasoning.output_tokens": reasoning } : {}),
    ...(estimated > 0 ? { "vis.usage.estimated_calls": estimated } : {}),
  };
}
