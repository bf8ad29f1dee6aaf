import assert from "node:assert/strict";
import { otelSettings } from "../../../src/app/otel/telemetry.ts";

const of = (env: Readonly<Record<string, string>>) => otelSettings(env, { version: "1" });

Deno.test("otelSettings() is null without a valid endpoint", () => {
  for (const endpoint of ["", "collector:4318", "file:///etc/passwd", "grpc://x"]) {
    assert.equal(of({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }), null, endpoint);
  }
  assert.equal(of({ OTEL_SERVICE_NAME: "x" }), null);
});

Deno.test("otelSettings() prefers the variables for traces to the general ones", () => {
  const settings = of({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://a:4318/",
    OTEL_EXPORTER_OTLP_HEADERS: "a=1, b = two%2C ,bad",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "b=3",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=lost,x=%zz",
    OTEL_SERVICE_NAME: "mine",
    OTEL_BSP_MAX_QUEUE_SIZE: "-1",
    OTEL_TRACES_SAMPLER: "traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0.25",
  });
  assert.equal(settings?.url, "http://a:4318/v1/traces");
  assert.deepEqual(settings?.headers, { a: "1", b: "3" });
  assert.deepEqual(settings?.resource, { "service.version": "1", "service.name": "mine", x: "%zz" });
  assert.deepEqual([settings?.ratio, settings?.followsParent, settings?.queue.limit], [.25, false, 2048]);
  assert.equal(of({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://b/own" })?.url, "https://b/own");
});
