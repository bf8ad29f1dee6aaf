import { createLog } from "../../logging/log.ts";
import type { EnvironmentVariables } from "../settings/settings.ts";
import { otelSettings } from "./otel_settings.ts";
import { SpanExporter } from "./span_exporter.ts";
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
