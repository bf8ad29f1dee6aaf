import { percentDecoded } from "../../domain/kit/addresses.ts";
import { createLog } from "../../logging/log.ts";
import type { EnvironmentVariables } from "../settings/settings.ts";
import { type OtelSettings, SpanExporter } from "./span_exporter.ts";
import { parentOf, Tracer } from "./tracer.ts";

/** Routes that are not worth a trace. */
const UNTRACED = /^\/(healthz|readyz|metrics|openapi\.json|favicon\.ico|assets\/.*)?$/;

/** Answers a request and reports its route. */
type Work = (routed: (route: string) => void) => Promise<Response>;

/** Traces of this process, sent as OTLP. The caller that opened it closes it, last. */
export interface Telemetry {
  readonly tracer: Tracer;
  /** Makes a span for a request to the server, below that of its caller. */
  within(request: Request, work: Work): Promise<Response>;
  /** Sends queued spans, for three seconds at most. */
  close(): Promise<void>;
}

/** Null if the environment requests no traces. */
export function openTelemetry(env: EnvironmentVariables, { version }: { readonly version: string }): Telemetry | null {
  const settings = otelSettings(env, { version });
  if (!settings) return null;
  const exporter = new SpanExporter({ settings, version, log: createLog("otel"), now: Date.now });
  const tracer = new Tracer({
    finish: (span) => exporter.add(span),
    now: () => performance.timeOrigin + performance.now(),
    ...{ ratio: settings.ratio, followsParent: settings.followsParent },
  });
  return {
    tracer,
    within: (request, work) => traceRequest(tracer, { request, work }),
    close: () => exporter.close(),
  };
}

async function traceRequest(
  tracer: Tracer,
  { request, work }: { readonly request: Request; readonly work: Work },
): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (UNTRACED.test(pathname)) return await work(() => {});
  const span = tracer.start(request.method, { kind: "server", parent: parentOf(request.headers.get("traceparent")) });
  span.set({ "http.request.method": request.method, "url.path": pathname.slice(0, 200), "url.scheme": "http" });
  try {
    const routed = (route: string) => span.rename(`${request.method} ${route}`).set({ "http.route": route });
    const response = await tracer.within({ span: () => span.context }, () => work(routed));
    span.set({ "http.response.status_code": response.status, "vis.request.id": response.headers.get("x-request-id") });
    if (response.status >= 500) span.fail(String(response.status), `status ${response.status}`);
    return response;
  } finally {
    span.end();
  }
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
