import assert from "node:assert/strict";
import { defineExtension } from "../../src/extension/mod.ts";
import { CORE_INSTRUCTIONS, replyFormat } from "../../src/prompt/prompt.ts";
import { startEngine } from "../helpers/engine.ts";
import { DEFAULT_CAPS } from "../helpers/no_context.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

const LAST = replyJson([], { final: "It is finished." });

Deno.test("a result that fits the whole journal is never cut, however long one print is", async () => {
  await using engine = await startEngine([
    replyJson(["for (let i = 0; i < 600; i++) print(`row ${i} of the long output`)", "'y'.repeat(5000)"]),
    LAST,
  ]);
  await engine.ask("x");
  const context = engine.context(1);
  assert.ok(context.includes("row 300 of the long output") && context.includes("y".repeat(5000)));
  assert.ok(!context.includes("left out"));
});

Deno.test("an excess is cut once, at line ends, in the largest row, and the mark names the place of the rest", async () => {
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
  const [, before, from, to, next] =
    /\nrow (\d+) .*\n… lines (\d+) to (\d+): .*left out, print\(printed.*\nrow (\d+) of/
      .exec(context) ?? [];
  assert.deepEqual([Number(from), Number(to)], [Number(before) + 2, Number(next)], "row 0 is line 1");
  assert.ok(context.length < 27_000);
});

Deno.test("a cut in the middle of a text names the omitted lines, and the code that shows them", async () => {
  const lines = "Array.from({ length: 900 }, (_, i) => `line ${i + 1} of a source that is too long`).join('\\n')";
  const shown = (context: string): readonly number[] =>
    [...context.matchAll(/^(?: {6}stdout: |""")?\n?line (\d+) of/gm)].map(([, line]) => Number(line));
  for (const [code, name] of [[lines, "results"], [`print(${lines})`, "printed"]] as const) {
    let from = 0, to = 0;
    await using engine = await startEngine([
      replyJson(code),
      ({ context }) => {
        const found = /^… lines (\d+) to (\d+): \d+ characters left out, (print\(.*\)) …$/m.exec(context) ?? [];
        [from, to] = [Number(found[1]), Number(found[2])];
        assert.ok(found[3]?.startsWith(`print(${name}[0].`), context.slice(0, 300));
        assert.deepEqual([shown(context).includes(from - 1), shown(context).includes(from)], [true, false]);
        assert.deepEqual([shown(context).includes(to), shown(context).includes(to + 1)], [false, true]);
        return replyJson(found[3] ?? "");
      },
      LAST,
    ]);
    await engine.ask("x");
    const [printed = ""] = /stdout: ([^]*?)\n<\/journal>/.exec(engine.context(2)) ?? [];
    assert.equal(printed.match(/^(?: {6}|stdout: )?.*line \d+ of/gm)?.length, to - from + 1);
    assert.match(printed, new RegExp(`stdout: line ${from} of[^]*\\nline ${to} of`));
  }
});

Deno.test("a cut declaration names the code that shows more, and a cut value names the variable with all of it", async () => {
  await using engine = await startEngine([
    replyJson(["const src = 'a line of it\\n'.repeat(90)", "const n = 5", "({ text: 'x'.repeat(40000) })"]),
    LAST,
  ]);
  await engine.ask("x");
  const [, cut = "", whole = "", value = ""] = /\[1\]([^]*)\[2\]([^]*)\[3\]([^]*)<\/journal>/.exec(engine.context(1)) ??
    [];
  assert.match(cut, /\n\(a declaration shows 500 characters: print\(src\) shows more\)/);
  assert.doesNotMatch(whole, /shows more/);
  assert.doesNotMatch(cut, /has what is left out/, "one hint is enough");
  assert.match(value, /\n {6}results\[2\] has what is left out/);
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
  const record =
    `{ path: "src/" + i + "/a_long_name_of_a_file.ts", size: 12345, changed: "2026-01-02T03:04:05Z", ok: true }`;
  await using engine = await startEngine([replyJson([`[1, 2].map((i) => (${record}))`]), LAST]);
  await engine.ask("x");
  assert.match(engine.context(1), /\n +\{path: "src\/1\/.*, ok: true\},?\n/);
});

Deno.test("attempts summarise each hidden iteration: its last printed line, or its value in short", async () => {
  await using engine = await startEngine([
    replyJson(["const t1 = { passed: 3, failed: [1, 2] }; t1"]),
    replyJson(["const t2 = 5; print('12 passed\\n2 failed')"]),
    replyJson(["t2"]),
    LAST,
  ], { settings: { caps: { ...DEFAULT_CAPS, earlierChars: 1 } } });
  await engine.ask("x");
  assert.doesNotMatch(engine.context(1), /<attempts>/);
  const [, attempts = ""] = /<attempts>\n([^]*)\n<\/attempts>/.exec(engine.context(3)) ?? [];
  const [first = "", second = "", ...more] = attempts.split("\n");
  assert.deepEqual(more, []);
  assert.match(first, /→ defined t1; value \{ passed: 3, failed: \[ 1, 2 \] \}$/);
  assert.match(second, /→ defined t2; printed 2 failed$/);
});

Deno.test("the index shows a dictionary as a record, short lists of keys, and versions only of changed variables", async () => {
  await using engine = await startEngine([
    replyJson([
      "const counts = Object.fromEntries(Array.from({ length: 40 }, (_, i) => ['a long name of a region ' + i, i]))",
      "const mixed = Object.fromEntries(Array.from({ length: 18 }, (_, i) => ['a_long_key_' + i, i % 2 ? i : 'x'.repeat(99)]))",
      "let twice = 'a'.repeat(500)",
      "let twice = 'b'.repeat(500)",
    ]),
    LAST,
  ]);
  await engine.ask("x");
  const [, index = ""] = /<var_index>\n([^]*)\n<\/var_index>/.exec(engine.context(1)) ?? [];
  assert.ok(index.includes("const counts: record of 40: string → number"), index);
  assert.ok(index.includes("let twice: string(500)  // v2"), index);
  const mixed = index.split("\n").find((line) => line.includes("mixed")) ?? "";
  assert.ok(mixed.length < 160 && / more\}$/.test(mixed), mixed);
});

Deno.test("older thinking is named only if it exists", async () => {
  await using engine = await startEngine([
    replyJson(["1"]),
    JSON.stringify({ thinking: "First.", code: [{ expr: "2" }] }),
    JSON.stringify({ thinking: "Second.", code: [{ expr: "3" }] }),
    LAST,
  ]);
  await engine.ask("x");
  const older = 'older: await varHistory("$reasoning")';
  assert.ok(engine.context(2).includes("First.") && !engine.context(2).includes(older));
  assert.ok(engine.context(3).includes(`Second.\n${older}`));
});

Deno.test("a query that ended without an answer is not handed over as answered", async () => {
  await using engine = await startEngine(["", "", "", replyJson([], { final: "Here it is." })]);
  await engine.ask("x");
  await engine.ask("y");
  const context = engine.provider.requests.at(-1)?.context ?? "";
  assert.ok(context.includes("ended without an accepted answer: "), context);
  assert.ok(!context.includes("answer given"));
});

Deno.test("one rule about thinking, and sections with the fields of an item", async () => {
  await using engine = await startEngine([
    replyJson(["const rows = [{ name: 'a', n: 1 }, { name: 'b', n: 2 }]"], {
      final: "{{#rows}}{{name}}={{n}};{{/rows}}",
    }),
  ]);
  assert.equal((await engine.ask("x")).answer, "a=1;b=2;");
  const prompt = CORE_INSTRUCTIONS + replyFormat();
  assert.equal(prompt.match(/"thinking"\?|In "thinking"|reason natively/g)?.length, 1);
  assert.ok(prompt.includes("{{#list}}{{field}}"));
});

Deno.test("budget lines come in the last two iterations; on the last call nothing asks for a block", async () => {
  const nudging = defineExtension({
    namespace: "com.acme.eager",
    alias: { ns: "vis.ext.eager", alias: "eager" },
    version: "1.0.0",
    doc: "Nudges.",
    nudge: () => "Run eager.now() next.",
  });
  await using engine = await startEngine([
    replyJson(["1"]),
    replyJson(["2"]),
    replyJson(["3"]),
    replyJson(["4"]),
    LAST,
  ], { extensions: [nudging] });
  await engine.ask("x");
  const said = [0, 1, 2, 3, 4].map((call) => /iteration is left|last iteration/.test(engine.context(call)));
  assert.deepEqual(said, [false, false, true, true, false]);
  assert.ok(engine.context(3).includes("eager.now()"));
  assert.ok(engine.context(4).includes("no block runs any more"));
  assert.ok(!engine.context(4).includes("[system_nudge]"));
});
