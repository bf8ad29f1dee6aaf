import assert from "node:assert/strict";
import { progressView } from "../../../../src/channels/telegram/answer_messages.ts";
import { QueryProgress } from "../../../../src/domain/query/query_progress.ts";
import type { QueryEventBody } from "../../../../src/domain/query/query_schemas.ts";

Deno.test("progressView() tells that a model is asked again, until it thinks", () => {
  const progress = new QueryProgress();
  const add = (body: QueryEventBody): void => progress.take({ ...body, seq: 1, at: 0, queryId: "q", iteration: 1 });
  add({ type: "retrying", reason: "Cannot reach it", waitMs: 8_000, attempt: 3 });
  assert.match(progressView(progress, 1_000), /\n▸ retrying in 8 s \(try 3\): Cannot reach it$/);
  add({ type: "thinking", delta: "Hm" });
  assert.match(progressView(progress, 2_000), /\nHm$/);
});

Deno.test("progressView() tells what the running block does, then the answer as it comes", () => {
  const progress = new QueryProgress();
  const view = (body: QueryEventBody, more: object = {}): string => {
    progress.take({ ...body, seq: 1, at: 0, queryId: "q", iteration: 2, ...more });
    return progressView(progress, 1_000).replace(/^⏳ step 2 · 1 s\n*/, "");
  };
  assert.equal(view({ type: "code", block: 0, delta: "\n// first" }), "");
  assert.equal(view({ type: "code", block: 1, delta: "second()" }), "");
  assert.equal(view({ type: "block_started", block: 0, code: "\n// first" }), "▸ // first");
  const action = { doing: "calling", done: "called", things: "functions", subject: "rlm.query" };
  assert.equal(view({ type: "host_call", block: 0, name: "rlm.query", phase: "start", action }), "▸ calling rlm.query");
  const child = { queryId: "k", parentQueryId: "q", iteration: 1 };
  assert.equal(view({ type: "thinking", delta: "of another query" }, child), "▸ calling rlm.query");
  assert.equal(view({ type: "host_call", block: 0, name: "rlm.query", phase: "end" }), "▸ // first");
  assert.equal(view({ type: "iteration_finished", outcome: "executed", reason: null, ms: 1 }), "");
  assert.equal(view({ type: "answer_delta", delta: "42" }), "42");
});
