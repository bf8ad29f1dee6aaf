import { Cancelled, ProviderError } from "../../domain/errors.ts";
import type { ModelEvent, ModelRequest, Provider } from "../../providers/provider.ts";
import { providerName, usageAttributes } from "./gen_ai.ts";
import type { Span } from "./span.ts";
import type { Tracer } from "./tracer.ts";

/** Wraps a provider with a span for every call. Spans contain no message text. */
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
  try {
    for await (const event of provider.stream(request)) {
      if (isFirst) span.set({ "gen_ai.response.time_to_first_chunk": (performance.now() - begun) / 1000 });
      isFirst = false;
      if (event.type === "end") endOf(span, event);
      yield event;
    }
  } catch (error) {
    failed(span, error);
    throw error;
  } finally {
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
