import assert from "node:assert/strict";
import { otelSettings, SpanExporter, Tracer } from "../../../src/app/otel/telemetry.ts";
import { startCollector } from "./_collector.ts";

function rig(url: string, env: Readonly<Record<string, string>> = {}) {
  const settings = otelSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env }, { version: "1" });
  assert.ok(settings);
  const told: unknown[] = [];
  const log = { warn: (event: string, data?: Record<string, unknown>) => void told.push([event, data]) };
  const exporter = new SpanExporter({ settings, version: "1", log, now: () => 0, pauseMs: 1 });
  const tracer = new Tracer({ ...settings, now: () => 1_700_000_000_000, finish: (span) => exporter.add(span) });
  return { exporter, tracer, told };
}

Deno.test("SpanExporter retries after an answer that asks for it, and drops spans after three attempts", async () => {
  await using collector = startCollector((n) => n < 3 ? 503 : 200);
  const { exporter, tracer, told } = rig(collector.url);
  tracer.start("a").end();
  await exporter.close();
  assert.deepEqual([collector.requests.length, collector.spans.length, exporter.dropped, told], [3, 1, 0, []]);
  await using never = startCollector(() => 503);
  const second = rig(never.url);
  second.tracer.start("a").end();
  await second.exporter.close();
  assert.deepEqual([never.requests.length, second.exporter.dropped], [3, 1]);
  assert.deepEqual(second.told, [["spans_not_sent", { why: "status 503", dropped: 1 }]]);
});

Deno.test("SpanExporter is bounded, and accepts no spans after its end", async () => {
  const { exporter, tracer } = rig("http://127.0.0.1:1", { OTEL_BSP_MAX_QUEUE_SIZE: "3" });
  for (let at = 0; at < 10; at++) tracer.start("a").end();
  assert.equal(exporter.dropped, 7);
  await exporter.close();
  tracer.start("late").end();
  assert.equal(exporter.dropped, 11);
});

Deno.test("SpanExporter close() waits at most for its time limit", async () => {
  const gate = Promise.withResolvers<void>();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async () => {
    await gate.promise;
    return new Response();
  });
  const { exporter, tracer } = rig(`http://127.0.0.1:${server.addr.port}`);
  tracer.start("a").end();
  await exporter.close(20);
  assert.equal(exporter.dropped, 1);
  gate.resolve();
  await server.shutdown();
});

Deno.test("SpanExporter sends a full batch at once", async () => {
  await using collector = startCollector();
  const { exporter, tracer } = rig(collector.url, { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "2" });
  for (let at = 0; at < 4; at++) tracer.start(`span ${at}`).set({ at, text: "\ud800", no: undefined }).end();
  await exporter.close();
  assert.deepEqual(collector.spans.map(({ name }) => name), ["span 0", "span 1", "span 2", "span 3"]);
  assert.deepEqual(collector.spans[3]?.attributes, { at: 3, text: "\ufffd" });
});
