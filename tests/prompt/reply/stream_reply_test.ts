import assert from "node:assert/strict";
import fc from "fast-check";
import { parseReply } from "../../../src/prompt/reply/parse_reply.ts";
import corpus from "../../fixtures/replies/corpus.json" with { type: "json" };
import { ReplyStream } from "../../../src/prompt/reply/stream_reply.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";
import { runs } from "../../helpers/long_part.ts";

interface Streamed {
  readonly thinking: string;
  readonly code: readonly string[];
  readonly answer: string;
}

function stream(text: string, sizes: readonly number[]): Streamed {
  const reader = new ReplyStream();
  const code: string[] = [];
  let thinking = "", answer = "";
  for (let at = 0, i = 0; at < text.length; i++) {
    const size = Math.max(1, sizes[i % sizes.length] ?? 1);
    const found = reader.push(text.slice(at, at + size));
    assert.ok(found.thinking.isWellFormed());
    thinking += found.thinking;
    assert.ok(found.answer.isWellFormed());
    answer += found.answer;
    for (const { block, delta } of found.code) {
      assert.ok(delta.isWellFormed());
      code[block] = (code[block] ?? "") + delta;
    }
    at += size;
  }
  return { thinking, code: Array.from(code, (block) => block ?? ""), answer };
}

const everySize = [[1], [2], [3], [7], [1_000_000]];

Deno.test("push() yields thinking and code as they arrive, however the text is split", () => {
  const reply = {
    thinking: 'a "b" \\ 😀\n',
    code: [{ expr: 'const x = {a: "}"}\n"]"', timeMs: 5 }, { expr: "2" }],
    final: { answer: "not yet 😀", answerType: "a b c" },
  };
  for (const sizes of everySize) {
    const expected = { thinking: reply.thinking, code: reply.code.map(({ expr }) => expr), answer: "not yet 😀" };
    assert.deepEqual(stream(JSON.stringify(reply), sizes), expected);
    assert.deepEqual(stream(`Sure:\n\`\`\`json\n${JSON.stringify(reply, null, 2)}\n\`\`\``, sizes), expected);
  }
});

Deno.test("push() yields a part before the reply is complete", () => {
  const reader = new ReplyStream();
  assert.deepEqual(reader.push('{"thinking":"fir'), { thinking: "fir", code: [], answer: "" });
  assert.deepEqual(reader.push('st","code":[{"expr":"let'), {
    thinking: "st",
    code: [{ block: 0, delta: "let" }],
    answer: "",
  });
  assert.deepEqual(reader.push(' a"},{"expr":"b'), {
    thinking: "",
    code: [{ block: 0, delta: " a" }, { block: 1, delta: "b" }],
    answer: "",
  });
  assert.equal(reader.push('"}],"final":{"answer":"It ').answer, "");
  assert.equal(reader.push("is read").answer, "It is read");
  assert.equal(reader.push(' \\"so').answer, ' "so');
});

Deno.test("push() yields an answer in the places where parseReply takes it from", () => {
  const shapes = [
    '{"final":{"answer":"one two"}}',
    '{"final":"one two"}',
    '{"answer":"one two"}',
    "{'final':'one two'}",
  ];
  for (const text of [...shapes, '{"final_answer":{"answer":"one two","answer":"x y"}}']) {
    for (const sizes of everySize) assert.equal(stream(text, sizes).answer, "one two", text);
  }
  for (const text of ['{"other":{"answer":"one two"}}', '{"final":{"confidence":"one two"}}', '{"next":"one two"}']) {
    assert.equal(stream(text, [3]).answer, "", text);
  }
});

Deno.test("push() shows no names of variables and no tags of an answer", () => {
  const shown: readonly (readonly [answer: string, shown: string])[] = [
    ["report", ""],
    ["report.total", ""],
    ["Yes, it is", "Yes, it is"],
    ["In {{ place }}: {{{count}}}{{#list}}{{.}}, {{/list}}done", "In …: ……, done"],
    ['Use {"a": {"b": 1}} and { or {{ at\nthe end', 'Use {"a": {"b": 1}} and { or {{ at\nthe end'],
    ["Ends in {", "Ends in {"],
    ["Ends in {{na", "Ends in "],
  ];
  for (const [answer, expected] of shown) {
    for (const sizes of everySize) assert.equal(stream(JSON.stringify({ final: { answer } }), sizes).answer, expected);
  }
});

Deno.test("push() shows no other strings, nor text after the reply object", () => {
  const text =
    '{"final":{"type":"A SECRET","thinking":"A SECRET","code":"A SECRET"}}\n{"thinking":"SECRET","code":["SECRET"]}';
  for (const sizes of everySize) assert.deepEqual(stream(text, sizes), { thinking: "", code: [], answer: "" });
});

Deno.test("push() reads escapes that are split and pairs that are written as escapes", () => {
  const text = '{"thinking":"\\u0041\\ud83d\\ude00\\n\\t\\/\\\\ \\d","code":["x"]}';
  for (const sizes of everySize) {
    assert.deepEqual(stream(text, sizes), {
      thinking: "A😀\n\t/\\ \\d",
      code: ["x"],
      answer: "",
    });
  }
});

Deno.test("push() reads thinking tags and fenced code of models that do not send JSON", () => {
  const text =
    "<think>why <b> not</think>\nHere {is} it:\n```ts\nconst a = `\n```js\nx\n```\n`\n  a``\n```\nand\n```typescript\n2\n```\n";
  for (const sizes of everySize) {
    assert.deepEqual(stream(text, sizes), {
      thinking: "why <b> not",
      code: ["const a = `\n```js\nx\n```\n`\n  a``\n", "2\n"],
      answer: "",
    });
  }
});

Deno.test("push() reads the shapes that parseReply takes as well", () => {
  const shapes = ['[{"expr":"1"},{"expr":"2"}]', '{"code":["1","2"]}', "{'code':[{'expr':'1'},{'code':'2'}]}"];
  for (const text of shapes) assert.deepEqual(stream(text, [3]).code, ["1", "2"], text);
  assert.deepEqual(stream('{"expr":"1"}', [3]).code, ["1"]);
  assert.deepEqual(stream('{"code":{"expr":"1"}}', [3]).code, ["1"]);
});

Deno.test("push() agrees with parseReply on every reply that keeps the format", () => {
  const expr = fc.string({ unit: "grapheme" }).map((text) => `x${text.replaceAll("\b", "")}`);
  const reply = fc.record({
    thinking: fc.string(),
    code: fc.array(fc.record({ expr })),
    final: fc.record({ answer: fc.string() }),
  });
  fc.assert(fc.property(reply, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (value, sizes) => {
    const text = JSON.stringify(value);
    const parsed = parseReply(text);
    assert.ok(parsed.ok);
    const { thinking, code, answer } = stream(text, sizes);
    assert.equal(thinking, parsed.reply.thinking);
    if (/\S\s+\S/.test(value.final.answer) && !value.final.answer.includes("{{")) {
      assert.equal(answer, value.final.answer);
    }
    assert.deepEqual(code, parsed.reply.code.map((block) => block.expr));
  }));
});

const SAMPLED = runs(1, 3);

for (const { name, input } of corpus) {
  Deno.test(`push() yields the same wherever the reply is split in two: ${name}`, () => {
    const parts: readonly unknown[] = typeof input === "string" ? [input] : input;
    const text = parts.map((part) => Array.isArray(part) ? String(part[0]).repeat(Number(part[1])) : String(part))
      .join("");
    const whole = stream(text, [text.length || 1]);
    const every = text.length <= 3_000 ? 1 : Math.ceil(text.length / SAMPLED);
    for (let at = Math.ceil(every / 2); at < text.length; at += every) {
      assert.deepEqual(stream(text, [at, text.length]), whole, `${at}`);
    }
    if (text.length <= 3_000) assert.deepEqual(stream(text, [1]), whole);
  });
}

Deno.test("push() shows exactly the code that runs, for a reply that needs no repair", () => {
  for (const { name, input, expect } of corpus) {
    if (!name.startsWith("clean:") || typeof input !== "string" || !expect.ok) continue;
    const parsed = parseReply(input);
    assert.ok(parsed.ok);
    const { thinking, code } = stream(input, [5]);
    assert.deepEqual([thinking, code.filter((text) => !["", "null", "undefined"].includes(text.trim()))], [
      parsed.reply.thinking,
      parsed.reply.code.map(({ expr }) => expr),
    ], name);
  }
});

Deno.test("push() never throws", () => {
  const piece = fc.constantFrom(
    ..."{}[]\"'\\:,\n`<>/".split(""),
    "```ts\n",
    "```\n",
    "<think>",
    "</think>",
    '"code":',
    "\\u",
    "\ud83d",
    "\ude00",
  );
  const text = fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 80 }).map((pieces) =>
    pieces.join("")
  );
  fc.assert(fc.property(text, (input) => void stream(input, [1, 3])), { numRuns: runs(250, 1_000) });
});

Deno.test("push() takes time in proportion to the text", () => {
  const text = JSON.stringify({ thinking: "x".repeat(200_000), code: [{ expr: "y\n".repeat(200_000) }] });
  const begun = cpuMs();
  const { thinking, code } = stream(text, [16]);
  assert.ok(cpuMs() - begun < 2_000, `took ${cpuMs() - begun} ms`);
  assert.equal(thinking.length + (code[0]?.length ?? 0), 600_000);
  const n = runs(150_000, 500_000);
  for (const hostile of ["[", "{", '{"a":', "`", "<", "<think>", '"']) {
    const start = cpuMs();
    stream(hostile.repeat(n / hostile.length), [64]);
    assert.ok(cpuMs() - start < n * 0.004, `${hostile} took ${cpuMs() - start} ms`);
  }
});
