import assert from "node:assert/strict";
import { ProgressView } from "../../../src/channels/telegram/progress_view.ts";
import type { QueryEventBody } from "../../../src/domain/query_event.ts";

Deno.test("ProgressView tells that a model is asked again, until it thinks", () => {
  const view = new ProgressView(0);
  const add = (body: QueryEventBody): void => view.add({ ...body, seq: 1, at: 0, queryId: "q", iteration: 1 });
  add({ type: "retrying", reason: "Cannot reach it", waitMs: 8_000, attempt: 3 });
  assert.match(view.text(1_000), /\n▸ retrying in 8 s \(try 3\): Cannot reach it$/);
  add({ type: "thinking", delta: "Hm" });
  assert.match(view.text(2_000), /\nHm$/);
});
