import assert from "node:assert/strict";
import { assembleMessages } from "../../src/prompt/call_messages.ts";

const texts = { system: "S", request: "R", schema: "F", context: "C" };

Deno.test("assembleMessages() gives system, request, schema and context, and marks the end of the stable prefix", () => {
  assert.deepEqual(assembleMessages({ ...texts, alternatingRoles: false }), [
    { role: "system", text: "S" },
    { role: "user", text: "R" },
    { role: "user", text: "F", cache: true },
    { role: "user", text: "C" },
  ]);
});

Deno.test("assembleMessages() folds the same texts in the same order into one user message", () => {
  assert.deepEqual(assembleMessages({ ...texts, alternatingRoles: true }), [{
    role: "user",
    text: "S\n\nR\n\nF\n\nC",
  }]);
});

Deno.test("assembleMessages() keeps everything before the context the same over iterations", () => {
  const first = assembleMessages({ ...texts, alternatingRoles: false });
  const later = assembleMessages({ ...texts, context: "other", alternatingRoles: false });
  assert.deepEqual(first.slice(0, 3), later.slice(0, 3));
});
