import type { ModelEvent, ModelRequest, Provider } from "../../../src/providers/provider.ts";
import { type ScriptedProvider, scriptedProvider, type ScriptedReply } from "../../helpers/scripted_provider.ts";

/** Makes a scripted model that holds one of its replies (0-based) until it is released. `reached` resolves when that
 * reply is requested. */
export function gated(
  replies: readonly ScriptedReply[],
  { at }: { readonly at: number },
): {
  readonly provider: Provider;
  readonly requests: ScriptedProvider["requests"];
  readonly open: () => void;
  readonly reached: Promise<void>;
} {
  const inner = scriptedProvider(replies);
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const asked = { count: 0 };
  const provider: Provider = {
    name: inner.name,
    defaultModel: inner.defaultModel,
    models: (options) => inner.models(options),
    capabilities: (model) => inner.capabilities(model),
    async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
      if (asked.count++ === at) {
        reached.resolve();
        const { promise, resolve } = Promise.withResolvers<void>();
        request.signal.addEventListener("abort", () => resolve());
        await Promise.race([gate.promise, promise]);
      }
      yield* inner.stream(request);
    },
  };
  return { provider, requests: inner.requests, open: () => gate.resolve(), reached: reached.promise };
}
