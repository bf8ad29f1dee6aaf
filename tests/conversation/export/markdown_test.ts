import assert from "node:assert/strict";
import { exportMarkdown } from "../../../src/conversation/export/markdown.ts";
import { hostileRecording, recordedIteration, recordedQuery, recording } from "../_recordings.ts";
import { exportedText } from "../../helpers/archive_of.ts";

function ownLines(text: string): string[] {
  const own: string[] = [];
  let fence = "";
  for (const line of text.split("\n")) {
    const [mark = ""] = /^`{3,}/.exec(line) ?? [];
    if (fence === "" && mark !== "") fence = mark;
    else if (fence !== "") fence = line === fence ? "" : fence;
    else if (!line.startsWith(">") && line !== "") own.push(line);
  }
  assert.equal(fence, "", "a fence is left open");
  return own;
}

function outsideFences(text: string): string[] {
  const outside: string[] = [];
  const quote: string[] = [];
  let fence = "";
  for (const line of [...text.split("\n"), ""]) {
    const [mark = ""] = /^`{3,}/.exec(line) ?? [];
    if (fence === "" && line.startsWith(">")) {
      quote.push(line.replace(/^> ?/, ""));
      continue;
    }
    if (quote.length > 0) outside.push(...outsideFences(quote.splice(0).join("\n")));
    if (fence === "" && mark !== "") fence = mark;
    else if (fence !== "") fence = line === fence ? "" : fence;
    else outside.push(line);
  }
  return outside;
}

Deno.test("exportMarkdown() reads as text: requests, thinking, code, results, answers", async () => {
  const text = await exportedText(exportMarkdown, recording([recordedQuery()]), { branches: ["└ one"] });
  assert.deepEqual(ownLines(text), [
    "# A title",
    "Conversation `01a2`, 1970-01-01 00:00 UTC, workspace `/work`",
    "## Request 1",
    "### Step 1 · executed",
    "Thinking:",
    "✓ value (3 ms)",
    "result:",
    "### Answer",
    "*answered (high confidence) · 1 step · 1.5 s · tokens not counted · $0.5000*",
  ]);
  for (const part of ["> How many?", "```ts\n1 + 1\n```", "> **2** of them", "└ one"]) {
    assert.ok(text.includes(part), part);
  }
});

Deno.test("exportMarkdown() lets no stored text out of its quote or fence, and loads no image", async () => {
  const text = await exportedText(exportMarkdown, hostileRecording());
  const own = ownLines(text);
  assert.equal(own.filter((line) => /^#+ (Request|heading)/.test(line)).length, 2);
  for (const line of own) {
    assert.ok(!/(?<!\\)<[a-z/]/.test(line.replace(/(`+).*?\1/g, "")), line);
    assert.ok(!/(?<!\\)!\[/.test(line), line);
  }
  for (const line of outsideFences(text)) assert.ok(!/^!?\[x\]|^<|^# heading/.test(line), line);
  // deno-lint-ignore no-control-regex
  assert.ok(!/[\u0000-\u0008\u000b-\u001f\u202a-\u202e]/.test(text) && text.isWellFormed());
});

Deno.test("exportMarkdown() names the changed file with its counts, and fences its lines as a diff", async () => {
  const diff = "--- a/src/a.ts\n+++ b/src/a.ts\n@@ -9 +9 @@\n-rate = 0.9\n+rate = 0.8\n@@ -20,0 +21 @@\n+<end>\n";
  const [block] = recordedIteration().blocks;
  const iterations = [recordedIteration({ blocks: [{ ...block!, diffs: [diff] }] })];
  const text = await exportedText(exportMarkdown, recording([recordedQuery({ iterations })]));
  assert.match(text, /\nsrc\/a\.ts \+2 −1:\n\n```diff\n-rate = 0\.9\n\+rate = 0\.8\n⋯\n\+<end>\n```\n/);
});
