import { percentDecoded } from "../../domain/kit/addresses.ts";
import type { EnvironmentVariables } from "../settings/settings.ts";

/** Settings from the standard variables (`OTEL_*`). */
export interface OtelSettings {
  /** Endpoint for spans, as OTLP in JSON. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly resource: Readonly<Record<string, string>>;
  /** The share of traces that is recorded, 0 to 1. */
  readonly ratio: number;
  /** Whether a caller's own decision overrides the ratio. */
  readonly followsParent: boolean;
  readonly queue: { readonly limit: number; readonly batch: number; readonly delayMs: number };
}

/** Null if nothing is to be sent: no endpoint is set, or tracing is switched off. */
export function otelSettings(
  env: EnvironmentVariables,
  { version }: { readonly version: string },
): OtelSettings | null {
  const url = urlOf(env);
  const off = env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none";
  if (off || url === null) return null;
  const { ratio, followsParent } = sampler(env);
  const attributes = pairs(env["OTEL_RESOURCE_ATTRIBUTES"]);
  const { "service.name": given = "vis" } = attributes;
  return {
    url,
    headers: { ...pairs(env["OTEL_EXPORTER_OTLP_HEADERS"]), ...pairs(env["OTEL_EXPORTER_OTLP_TRACES_HEADERS"]) },
    timeoutMs: whole(env["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"] ?? env["OTEL_EXPORTER_OTLP_TIMEOUT"], 10_000),
    resource: { "service.version": version, ...attributes, "service.name": env["OTEL_SERVICE_NAME"] || given },
    ratio,
    followsParent,
    queue: {
      limit: whole(env["OTEL_BSP_MAX_QUEUE_SIZE"], 2048),
      batch: whole(env["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"], 512),
      delayMs: whole(env["OTEL_BSP_SCHEDULE_DELAY"], 5000),
    },
  };
}

/** The traces variable holds the whole URL, the general one its base. */
function urlOf(env: EnvironmentVariables): string | null {
  const own = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
  const general = env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const url = own || (general ? `${general.replace(/\/$/, "")}/v1/traces` : "");
  return /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "") ? url : null;
}

/** Parses `key=value` pairs separated by commas, with percent-encoded values. */
function pairs(text = ""): Record<string, string> {
  const found = text.split(",").map((part) => /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(part));
  return Object.fromEntries(found.flatMap((match) => match ? [[match[1] ?? "", percentDecoded(match[2] ?? "")]] : []));
}

function whole(text: string | undefined, standard: number): number {
  return /^\d{1,9}$/.test(text ?? "") && Number(text) > 0 ? Number(text) : standard;
}

function sampler(env: EnvironmentVariables): { readonly ratio: number; readonly followsParent: boolean } {
  const name = env["OTEL_TRACES_SAMPLER"] ?? "parentbased_always_on";
  const followsParent = name.startsWith("parentbased_");
  const kind = name.replace("parentbased_", "");
  if (kind === "always_off") return { ratio: 0, followsParent };
  const given = Number(env["OTEL_TRACES_SAMPLER_ARG"] ?? 1);
  const ratio = kind === "traceidratio" && given >= 0 && given <= 1 ? given : 1;
  return { ratio, followsParent };
}
