import { Cancelled, ConfigError, messageOf } from "../../domain/errors.ts";
import type { ProviderReport } from "../../domain/reports.ts";
import { makeProvider } from "./make_provider.ts";
import { keyAdvice, type ResolvedProvider } from "./resolve_provider.ts";

const REACH_MS = 5_000;

/** Whether a service responds, and what it offers. */
export async function serviceReach(resolved: ResolvedProvider, signal: AbortSignal): Promise<ProviderReport["reach"]> {
  try {
    const models = await served(resolved, { signal });
    return { ok: true, found: `${models.length} model${models.length === 1 ? "" : "s"}` };
  } catch (error) {
    if (signal.aborted) throw new Cancelled("Cancelled");
    return { ok: false, found: messageOf(error) };
  }
}

/** The models that a service offers. Rejects if it does not say so in time. */
export async function served(
  resolved: ResolvedProvider,
  { signal, withinMs = REACH_MS }: { readonly signal: AbortSignal; readonly withinMs?: number },
): Promise<readonly string[]> {
  if (resolved.need !== "optional" && resolved.key.value === null) {
    throw new ConfigError(`No key: ${keyAdvice(resolved)}`);
  }
  const { provider } = await makeProvider(resolved, resolved.defaultModel ?? "");
  const timeout = AbortSignal.timeout(withinMs);
  try {
    return await provider.models({ signal: AbortSignal.any([signal, timeout]) });
  } catch (error) {
    if (timeout.aborted && !signal.aborted) throw new ConfigError(`No answer for ${withinMs / 1000} s`);
    throw error;
  }
}
