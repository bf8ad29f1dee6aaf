export interface Arrived {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly Arrived[];
  readonly requests: readonly { readonly path: string; readonly headers: Headers; readonly body: string }[];
  resource(): Readonly<Record<string, unknown>>;
}

/** Accepts OTLP in JSON. `answer` returns the status of the n-th request (1-based). */
export function startCollector(answer: (n: number) => number = () => 200): Collector {
  const spans: Arrived[] = [];
  const requests: { path: string; headers: Headers; body: string }[] = [];
  const seen = { resource: {} as Readonly<Record<string, unknown>> };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const body = await request.text();
    requests.push({ path: new URL(request.url).pathname, headers: request.headers, body });
    const status = answer(requests.length);
    if (status === 200) {
      for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
        seen.resource = plain(resource.attributes);
        for (const { spans: some } of scopeSpans) {
          for (const span of some) spans.push({ ...span, attributes: plain(span.attributes) });
        }
      }
    }
    return new Response("{}", { status });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    spans,
    requests,
    resource: () => seen.resource,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function plain(list: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]) {
  return Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf(value: Readonly<Record<string, unknown>>): unknown {
  const [[type, found] = ["", null]] = Object.entries(value);
  if (type === "intValue") return Number(found);
  if (type !== "arrayValue") return found;
  return (found as { readonly values: readonly Readonly<Record<string, unknown>>[] }).values.map(valueOf);
}
