import assert from "node:assert/strict";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

/** What the model reads after these blocks. */
async function journal(...blocks: string[]): Promise<string> {
  await using engine = await startEngine([replyJson(blocks), replyJson([], { final: "It is finished." })]);
  await engine.ask("x");
  return /<journal>\n([^]*)\n<\/journal>/.exec(engine.context(1))?.[1] ?? "";
}

const LINES = (count: number): string => `Array.from({ length: ${count} }, (_, at) => "line " + at).join("\\n")`;

Deno.test("output is shown whole as long as the journal has room", async () => {
  const shown = await journal(`print(${LINES(1500)})`, "1 + 1");
  assert.match(shown, /line 0\n[^]*line 749\n[^]*line 1499\n/);
  assert.doesNotMatch(shown, /left out/);
});

Deno.test("what does not fit is cut once, in the largest block, between lines, and says where the rest is", async () => {
  const shown = await journal(`print(${LINES(300)})`, `print(${LINES(6000)})`, "3");
  const [cut, ...more] = shown.match(/.* characters left out.*/g) ?? [];
  assert.deepEqual(more, []);
  assert.match(cut ?? "", /^line \d+ … \d+ characters left out, all in printed\[1\] … $/);
  assert.match(shown, /line 299\n {2}\[2\] print/);
  for (const line of shown.split("\n").slice(1)) assert.match(line, /^line \d+( …|$)|^ {2}\[[23]\]|^ +stdout: line 0$/);
  assert.ok(shown.length < 24_500, String(shown.length));
});

Deno.test("a text that is hardly too long is not cut", async () => {
  const shown = await journal(`print("x".repeat(24_000 - 250))`);
  assert.doesNotMatch(shown, /left out/);
});

Deno.test("a declaration that nothing looks at is short, the same value as a last expression is not", async () => {
  const files = 'Array.from({ length: 20 }, (_, at) => ({ path: "f" + at, text: "word ".repeat(60) }))';
  const shown = await journal(`const files = ${files}`, "files");
  const [declared = "", asked = ""] = shown.split("\n  [2] ");
  assert.ok(declared.length < 1_000 && asked.length > 3_000, `${declared.length} ${asked.length}`);
});

Deno.test("records are shown in wide rows", async () => {
  const rows =
    'Array.from({ length: 3 }, (_, at) => ({ path: "src/file" + at + ".ts", line: at, text: "const value = " + at }))';
  const shown = await journal(
    rows,
    '({ id: "c1", running: false, code: 1, signal: null, timedOut: false, output: "done", stderr: "a longer text", missed: 0 })',
  );
  assert.match(shown, /^ {2}\{ path: "src\/file1\.ts", line: 1, text: "const value = 1" \},$/m);
  assert.match(
    shown,
    /^ {2}id: "c1", running: false, code: 1, signal: null, timedOut: false, output: "done",\n {2}stderr: "a longer text", missed: 0$/m,
  );
});
