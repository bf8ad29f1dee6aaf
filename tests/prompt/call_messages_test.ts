import assert from "node:assert/strict";
import { renderContext } from "../../src/prompt/context_message.ts";
import { callMessages, NO_EXTRAS, replyFormat } from "../../src/prompt/prompt.ts";
import { parts } from "./_parts.ts";

const prefix = { system: "S", request: "R", extras: NO_EXTRAS };
const context = parts();

Deno.test("callMessages() gives system, request, format and context, and marks the end of the stable prefix", () => {
  assert.deepEqual(callMessages(prefix, { context, alternatingRoles: false }), [
    { role: "system", text: "S" },
    { role: "user", text: "R" },
    { role: "user", text: replyFormat(), cache: true },
    { role: "user", text: renderContext(context) },
  ]);
});

Deno.test("callMessages() folds the same texts in the same order into one user message", () => {
  assert.deepEqual(callMessages(prefix, { context, alternatingRoles: true }), [{
    role: "user",
    text: `S\n\nR\n\n${replyFormat()}\n\n${renderContext(context)}`,
  }]);
});

Deno.test("callMessages() keeps everything before the context the same over iterations", () => {
  const first = callMessages(prefix, { context, alternatingRoles: false });
  const later = callMessages(prefix, { context: parts({ notes: ["other"] }), alternatingRoles: false });
  assert.deepEqual(first.slice(0, 3), later.slice(0, 3));
  assert.notDeepEqual(first[3], later[3]);
});
