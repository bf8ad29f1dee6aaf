import assert from "node:assert/strict";
import { updateOf } from "../../../src/channels/acp/update_of.ts";

Deno.test("updateOf() tells an editor among the thoughts that a model is asked again", () => {
  const event = { seq: 1, at: 0, queryId: "q", iteration: 1 } as const;
  assert.deepEqual(updateOf({ ...event, type: "retrying", reason: "Cannot reach it", waitMs: 8_000, attempt: 3 }), {
    sessionUpdate: "agent_thought_chunk",
    content: { type: "text", text: "\n(retrying in 8 s (try 3): Cannot reach it)\n" },
  });
});
