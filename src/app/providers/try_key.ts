import { messageOf } from "../../domain/kit/message_of.ts";
import { ProviderError } from "../../domain/errors.ts";
import type { KeyTrial } from "../../domain/reports/provider_report.ts";
import { makeProvider } from "./make_provider.ts";
import type { ResolvedProvider } from "./resolve_provider.ts";

const TRY_MS = 8_000;

/** Requests a provider's models with this key. Never throws: if the provider cannot be reached, the key may still be
 * valid. */
export async function tryKey(key: string, resolved: ResolvedProvider, signal: AbortSignal): Promise<KeyTrial> {
  const late = AbortSignal.timeout(TRY_MS);
  try {
    const own = { ...resolved, key: { ...resolved.key, value: key, from: "typed" } };
    const { provider } = await makeProvider(own, resolved.defaultModel ?? "");
    const models = await provider.models({ signal: AbortSignal.any([signal, late]) });
    return { state: "works", found: `it offers ${models.length} model${models.length === 1 ? "" : "s"}` };
  } catch (error) {
    if (late.aborted && !signal.aborted) return { state: "unknown", found: `no answer for ${TRY_MS / 1000} s` };
    const found = messageOf(error);
    return { state: error instanceof ProviderError && error.code === "auth" ? "refused" : "unknown", found };
  }
}
