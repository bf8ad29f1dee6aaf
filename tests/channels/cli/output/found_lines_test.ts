import assert from "node:assert/strict";
import { foundLines } from "../../../../src/channels/cli/commands/search.ts";
import type { SearchHit } from "../../../../src/domain/records/history.ts";

const HIT: SearchHit = {
  kind: "code",
  ...{ snippet: "const [totals] = rows[0]", conversationId: "01a20990-8048-7326", branchId: "b" },
  ...{ title: "Sum\x1b[2J", queryId: "q", iterationId: "i", position: 1, variable: null, at: 0 },
  ...{ ownerTable: "t", ownerId: "o", field: "expr" },
};

Deno.test("foundLines() has each conversation once, and the words that were found in bold", () => {
  const io = { stdoutColor: true };
  const lines = foundLines([HIT, { ...HIT, snippet: "the [total]" }], { text: "Total", io, now: 7_200_000 });
  assert.equal(lines.length, 5);
  assert.match(lines[0] ?? "", /01a20990-8048.*Sum\\u001b\[2J/);
  assert.match(lines[1] ?? "", /code · step 2 · 2 h/);
  assert.equal(lines[2], "    const \x1b[1mtotals\x1b[22m = rows[0]");
  assert.equal(lines[4], "    the \x1b[1mtotal\x1b[22m");
});
