import assert from "node:assert/strict";
import { type FinishedSpan, parentOf, Tracer } from "../../../src/app/otel/telemetry.ts";

function rig(facts: { readonly ratio?: number; readonly followsParent?: boolean } = {}) {
  const spans: FinishedSpan[] = [];
  const now = () => 5;
  return {
    spans,
    tracer: new Tracer({ ratio: 1, followsParent: true, ...facts, now, finish: (span) => spans.push(span) }),
  };
}

Deno.test("parentOf() reads a traceparent and rejects everything else", () => {
  const trace = "0af7651916cd43dd8448eb211c80319c";
  assert.deepEqual(parentOf(`00-${trace}-b7ad6b7169203331-01`), {
    traceId: trace,
    spanId: "b7ad6b7169203331",
    sampled: true,
  });
  assert.equal(parentOf(`00-${trace}-b7ad6b7169203331-00`)?.sampled, false);
  const none = [null, "", `ff-${trace}-b7ad6b7169203331-01`, `00-${"0".repeat(32)}-b7ad6b7169203331-01`];
  for (const text of [...none, `00-${trace}-${"0".repeat(16)}-01`, `00-${trace.toUpperCase()}-b7ad6b7169203331-01`]) {
    assert.equal(parentOf(text), null, String(text));
  }
});

Deno.test("Tracer within() places spans below the span of the work, across waits and in parallel", async () => {
  const { tracer, spans } = rig();
  const work = async (name: string): Promise<void> => {
    const span = tracer.start(name);
    await tracer.within({ span: () => span.context }, async () => {
      await Promise.resolve();
      tracer.start(`below ${name}`).end();
    });
    span.end();
  };
  await Promise.all([work("a"), work("b")]);
  for (const name of ["a", "b"]) {
    const [outer, inner] = [name, `below ${name}`].map((wanted) => spans.find((span) => span.name === wanted));
    assert.deepEqual([inner?.traceId, inner?.parentSpanId], [outer?.traceId, outer?.spanId]);
  }
  assert.notEqual(spans[0]?.traceId, spans[1]?.traceId);
});

Deno.test("Tracer records the same part of the traces for all who see one, and follows a caller's decision", () => {
  const { tracer, spans } = rig({ ratio: .5 });
  for (let at = 0; at < 400; at++) tracer.start("a", { parent: null }).end();
  assert.ok(spans.length > 120 && spans.length < 280, `${spans.length} of 400`);
  const parent = { traceId: "f".repeat(32), spanId: "1".repeat(16), sampled: true };
  const count = spans.length;
  tracer.start("b", { parent }).end();
  tracer.start("c", { parent: { ...parent, traceId: "0".repeat(31) + "1", sampled: false } }).end();
  assert.deepEqual(spans.slice(count).map(({ name }) => name), ["b"]);
});

Deno.test("Span end() counts once", () => {
  const { tracer, spans } = rig();
  const span = tracer.start("a");
  span.end();
  span.set({ late: true }).end();
  assert.equal(spans.length, 1);
});
