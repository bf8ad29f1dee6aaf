import { readBounded } from "../../domain/kit/bytes.ts";
import { asRecord, readForeignJson } from "../../domain/kit/json.ts";
import { environmentAddress, PRESETS } from "./presets.ts";

/** A model server found on this machine. */
export interface LocalServer {
  /** Name of its preset. */
  readonly preset: string;
  readonly title: string;
  readonly baseUrl: string;
  /** Models that can chat, in the server's order. */
  readonly models: readonly string[];
}

/** An address to probe. */
export interface LocalAddress {
  readonly preset: string;
  /** Includes the version path. */
  readonly baseUrl: string;
}

const PROBE_MS = 150;
const MAX_BYTES = 1 << 20;

/** The default ports of Ollama, LM Studio and vLLM on this machine, in this order, or the address that the environment
 * gives instead. */
export function usualAddresses(variable: (name: string) => string | null): readonly LocalAddress[] {
  return Object.entries(PRESETS).flatMap(([name, preset]) =>
    preset.localPort === undefined
      ? []
      : [{ preset: name, baseUrl: environmentAddress(preset, variable)?.baseUrl ?? preset.baseUrl }]
  );
}

/** Requests the models from all addresses at once and waits at most `probeMs`. Whatever does not answer like a model
 * server is left out; the results are in the order of the addresses. Never throws. */
export async function discoverLocal(
  addresses: readonly LocalAddress[],
  { probeMs = PROBE_MS }: { readonly probeMs?: number | undefined } = {},
): Promise<readonly LocalServer[]> {
  const probed = await Promise.all(addresses.map((address) => probe(address, probeMs).catch(() => null)));
  return probed.filter((server) => server !== null);
}

async function probe({ preset, baseUrl }: LocalAddress, probeMs: number): Promise<LocalServer | null> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), probeMs);
  try {
    const response = await fetch(`${baseUrl}/models`, { signal: abort.signal, redirect: "error" });
    // Anything may listen on such a port, so no more is read than a list of models can hold.
    const bytes = await readBounded(response.body ?? new Blob().stream(), { maxBytes: MAX_BYTES, tooLarge });
    const { data } = response.ok ? asRecord(readForeignJson(new TextDecoder().decode(bytes))) : { data: null };
    // Ollama without models returns null, others an empty list.
    if (!response.ok || (!Array.isArray(data) && data !== null)) return null;
    const names = (data ?? []).map((model: unknown) => asRecord(model).id).filter((id: unknown) =>
      typeof id === "string"
    );
    const title = PRESETS[preset]?.title ?? preset;
    return { preset, title, baseUrl, models: names.filter((name: string) => !/embed|rerank/i.test(name)) };
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(): RangeError {
  return new RangeError("Cannot read a list of models: it is too long");
}
