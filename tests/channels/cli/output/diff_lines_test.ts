import assert from "node:assert/strict";
import { diffLines } from "../../../../src/channels/cli/ask/progress.ts";

const DIFF = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n";

Deno.test("diffLines() colours lines by what they say, and only where colours are wanted", () => {
  const plain = diffLines(DIFF, { color: false, most: 10 });
  assert.deepEqual(plain, ["--- a/x", "+++ b/x", "@@ -1,2 +1,2 @@", " same", "-old", "+new"]);
  const colored = diffLines(DIFF, { color: true, most: 10 });
  assert.equal(colored[4], "\u001b[31m-old\u001b[39m");
  assert.equal(colored[5], "\u001b[32m+new\u001b[39m");
});

Deno.test("diffLines() is bounded in lines and in their length, and lets no command through to the terminal", () => {
  const lines = diffLines(`${DIFF}+${"x".repeat(500)}\n+\u001b]0;title\u0007\n`, { color: false, most: 8 });
  assert.equal(lines[6]?.length, 200);
  assert.ok(!lines.join("").includes("\u001b"));
  assert.deepEqual(diffLines(DIFF, { color: false, most: 2 }), ["--- a/x", "+++ b/x", "… 4 more lines"]);
});
