import assert from "node:assert/strict";
import { answerOf } from "../../../../src/channels/cli/query_command.ts";

Deno.test("answerOf() takes a letter or word of a choice; everything else is a no with its reason", () => {
  const said = (line: string, lasting = true) => {
    const { decision, reason } = answerOf(line, { scope: "doors", lasting });
    return `${decision} ${reason}`.trim();
  };
  assert.deepEqual(["y", " YES ", "c", "always", "n", "", "not today"].map((line) => said(line)), [
    "once",
    "once",
    "conversation",
    "workspace",
    "no",
    "no",
    "no not today",
  ]);
  assert.deepEqual(["y", "a", "conversation"].map((line) => said(line, false)), ["once", "no a", "no conversation"]);
});
