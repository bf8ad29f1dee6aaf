import assert from "node:assert/strict";
import { conversationLine } from "../../../../src/channels/cli/commands/conversations.ts";

const ONE = {
  ...{ conversationId: "01a20990-8048-7326-9545-f7c8b57fb870", activeAt: 0, queries: 2, running: false },
  ...{ title: "Fix the\ntests", workspace: "/home/me/shop" },
} as const;

Deno.test("conversationLine() has a short id, the age, the requests, the title and the folder", () => {
  const io = { stdoutColor: false, columns: () => 80 };
  const given = { io, now: 3 * 86_400_000, here: false };
  assert.equal(conversationLine(ONE, given), "01a20990-8048         3 d    2 requests  Fix the tests  shop");
  assert.match(conversationLine({ ...ONE, running: true }, { ...given, here: true }), /Fix the tests · running$/);
  const long = conversationLine({ ...ONE, title: "word ".repeat(60) }, given);
  assert.ok(long.length <= 80 && long.endsWith("  shop"), long);
});
