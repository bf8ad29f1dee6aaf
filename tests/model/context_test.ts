import assert from "node:assert/strict";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

const LAST = replyJson([], { final: "It is finished." });

Deno.test("what fits the whole journal is never cut, however long one print is", async () => {
  await using engine = await startEngine([
    replyJson(["for (let i = 0; i < 600; i++) print(`row ${i} of the long output`)", "'y'.repeat(5000)"]),
    LAST,
  ]);
  await engine.ask("x");
  const context = engine.context(1);
  assert.ok(context.includes("row 300 of the long output") && context.includes("y".repeat(5000)));
  assert.ok(!context.includes("left out"));
});

Deno.test("what does not fit is cut once, at line ends, in the largest row, and the mark says where the rest is", async () => {
  await using engine = await startEngine([
    replyJson([
      "for (let i = 0; i < 5000; i++) print(`row ${i} of the long output`)",
      "for (let i = 0; i < 100; i++) print(`short ${i}`)",
    ]),
    LAST,
  ]);
  await engine.ask("x");
  const context = engine.context(1);
  assert.ok(context.includes("short 50\n"));
  assert.equal(context.match(/left out/g)?.length, 1);
  assert.match(context, /\nrow \d+ of the long output\n… \d+ characters left out, all in printed\[0\] …\nrow \d+ of the/);
  assert.ok(context.length < 27_000);
});

Deno.test("a declaration that is not looked at costs about 500 characters; an expression shows its value", async () => {
  await using engine = await startEngine([
    replyJson(["const text = Array.from({ length: 200 }, (_, i) => `line ${i}`).join('\\n')", "text"]),
    LAST,
  ]);
  await engine.ask("x");
  const [, declared = "", looked = ""] = /\[1\]([^]*)\[2\]([^]*)<\/journal>/.exec(engine.context(1)) ?? [];
  assert.ok(declared.length < 800, declared);
  assert.ok(looked.includes("line 100\n"));
});

Deno.test("records are rows, not a key a line", async () => {
  const record = `{ path: "src/" + i + "/a_long_name_of_a_file.ts", size: 12345, changed: "2026-01-02T03:04:05Z", ok: true }`;
  await using engine = await startEngine([replyJson([`[1, 2].map((i) => (${record}))`]), LAST]);
  await engine.ask("x");
  assert.match(engine.context(1), /\n +\{ path: "src\/1\/.*, ok: true \},?\n/);
});
