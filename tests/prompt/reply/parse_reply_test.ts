import assert from "node:assert/strict";
import fc from "fast-check";
import { nativeCallText, parseReply } from "../../../src/prompt/reply/parse_reply.ts";
import { replySchema } from "../../helpers/reply_schema.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";
import corpus from "../../fixtures/replies/corpus.json" with { type: "json" };
import { runs } from "../../helpers/long_part.ts";

/** The result of a reply of the corpus. Repairs and reasons are parts of the text. With an empty list, no repair may
 * appear. */
interface Expected {
  readonly ok: boolean;
  readonly code?: readonly string[];
  readonly codeLength?: number;
  readonly timeMs?: readonly (number | null)[];
  readonly thinking?: string;
  readonly final?: string | null;
  readonly answerType?: string;
  readonly confidence?: string;
  readonly next?: { readonly model: string | null; readonly reasoning: string | null };
  readonly repairs?: readonly string[];
  readonly reason?: string;
}

function textOf(input: unknown): string {
  if (typeof input === "string") return input;
  assert.ok(Array.isArray(input));
  return input.map(([text, times]) => String(text).repeat(Number(times))).join("");
}

function checkRead(text: string, expected: Expected): void {
  const parsed = parseReply(text);
  assert.ok(parsed.ok, parsed.ok ? "" : parsed.reason);
  const { code, final, thinking, next, repairs } = parsed.reply;
  if (expected.codeLength === undefined) assert.deepEqual(code.map(({ expr }) => expr), expected.code);
  else assert.equal(code[0]?.expr.length, expected.codeLength);
  if (expected.timeMs) assert.deepEqual(code.map(({ timeMs }) => timeMs), expected.timeMs);
  if (expected.thinking !== undefined) assert.equal(thinking, expected.thinking);
  assert.equal(final?.answer ?? null, expected.final);
  if (expected.answerType) assert.equal(final?.answerType, expected.answerType);
  if (expected.confidence) assert.equal(final?.confidence, expected.confidence);
  if (expected.next) assert.deepEqual(next, expected.next);
  for (const part of expected.repairs ?? []) assert.ok(repairs.join("\n").includes(part), `${part} in: ${repairs}`);
}

for (const { name, input, expect } of corpus) {
  Deno.test(`parseReply() reads as in the corpus: ${name}`, () => {
    const text = textOf(input);
    const expected: Expected = expect;
    const begun = cpuMs();
    if (expected.ok) checkRead(text, expected);
    else {
      const parsed = parseReply(text);
      assert.ok(!parsed.ok, JSON.stringify(parsed).slice(0, 500));
      assert.ok(parsed.reason.includes(expected.reason ?? ""), parsed.reason);
      assert.ok(parsed.reason.includes("Expected one JSON object"), parsed.reason);
      assert.ok(parsed.reason.length < 600, parsed.reason);
    }
    if (text.length < 10_000) assert.ok(cpuMs() - begun < 500, `took ${cpuMs() - begun} ms`);
    else assert.ok(cpuMs() - begun < 3_000, `took ${cpuMs() - begun} ms`);
  });
}

Deno.test("parseReply() is tried on at least 120 replies with distinct names", () => {
  assert.ok(corpus.length >= 120, String(corpus.length));
  assert.equal(new Set(corpus.map(({ name }) => name)).size, corpus.length);
});

Deno.test("parseReply() names no repair for a reply that keeps the format", () => {
  for (const { name, input, expect } of corpus) {
    if (!name.startsWith("clean:")) continue;
    assert.equal(expect.ok, true);
    const parsed = parseReply(textOf(input));
    assert.ok(parsed.ok);
    assert.deepEqual(parsed.reply.repairs, [], name);
  }
});

const valid = fc.record({
  thinking: fc.string(),
  code: fc.array(
    fc.record({ expr: fc.string().map((text) => `x${text.replaceAll("\b", "")}`), timeMs: fc.integer({ min: 1 }) }),
  ),
  next: fc.record({
    model: fc.constantFrom("cost", "speed", "intelligence"),
    reasoning: fc.constantFrom("quick", "balanced", "deep"),
  }),
  final: fc.record({
    answer: fc.string({ minLength: 1 }).map((text) => `a${text}`),
    answerType: fc.constantFrom("text", "markdown"),
    confidence: fc.constantFrom("high", "medium", "low"),
  }),
}, { requiredKeys: [] });

Deno.test("parseReply() returns every reply of the schema unchanged and without repairs", () => {
  fc.assert(fc.property(valid, (reply) => {
    assert.ok(replySchema.safeParse(reply).success);
    const parsed = parseReply(JSON.stringify(reply));
    assert.ok(parsed.ok);
    const empty = { thinking: "", code: [], next: { model: null, reasoning: null }, final: null, repairs: [] };
    assert.deepEqual(parsed.reply, { ...empty, ...JSON.parse(JSON.stringify(reply)) });
  }));
});

Deno.test("parseReply() finds the same reply in a fence, after prose and before an invented turn", () => {
  fc.assert(fc.property(valid, (reply) => {
    if (!reply.code?.length && !reply.final) return;
    const text = JSON.stringify(reply, null, 2);
    const plain = parseReply(text);
    assert.ok(plain.ok);
    for (
      const wrapped of [
        `\`\`\`json\n${text}\n\`\`\``,
        `Sure, here:\n${text}`,
        `${text}\n<journal>\n[1] a → 1\n</journal>`,
      ]
    ) {
      const parsed = parseReply(wrapped);
      assert.ok(parsed.ok, wrapped);
      assert.deepEqual({ ...parsed.reply, repairs: [] }, plain.reply);
      assert.notDeepEqual(parsed.reply.repairs, []);
    }
  }));
});

Deno.test("parseReply() never runs a block that was cut off, wherever the reply ends", () => {
  const reply = JSON.stringify({
    thinking: "t",
    code: [{ expr: "let a = 1" }, { expr: "await fs.remove('a/b')" }],
    final: { answer: "gone" },
  });
  const whole = new Set(["let a = 1", "await fs.remove('a/b')"]);
  for (let length = 0; length < reply.length; length++) {
    const parsed = parseReply(reply.slice(0, length));
    if (!parsed.ok) continue;
    for (const { expr } of parsed.reply.code) assert.ok(whole.has(expr), `${length}: ${expr}`);
    assert.ok(parsed.reply.final === null || parsed.reply.final.answer === "gone", String(length));
  }
});

Deno.test("parseReply() never throws, whatever the text", () => {
  const piece = fc.constantFrom(
    ...["{", "}", "[", "]", '"', "'", "\\", "\\u12", ":", ",", "```", "```ts\n", "\n", "<think>", "</think>", '"code"'],
    ...[
      '"expr":',
      '"final":',
      "thinking:",
      "null",
      "1e999",
      "\ud800",
      "\u2028",
      "\u0000",
      "<journal>",
      "/*",
      "//",
      "[1] ",
    ],
  );
  const text = fc.array(fc.oneof(piece, fc.string({ maxLength: 5 })), { maxLength: 60 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (input) => {
      const parsed = parseReply(input);
      if (!parsed.ok) return assert.ok(parsed.reason !== "");
      for (const { expr } of parsed.reply.code) assert.equal(typeof expr, "string");
    }),
    { numRuns: runs(500, 2_000) },
  );
});

Deno.test("parseReply() refuses a reply of too many blocks, and looks at no more of them than it must", () => {
  const of = (count: number): string => JSON.stringify({ thinking: "", code: Array(count).fill({ expr: "1 + 1" }) });
  assert.equal(parseReply(of(100)).ok, true);
  for (const text of [of(101), of(200_000), JSON.stringify(Array(5_000).fill({ expr: "1 + 1" }))]) {
    const parsed = parseReply(text);
    assert.match(parsed.ok ? "" : parsed.reason, /^The reply has more than 100 blocks; none ran/);
  }
});

Deno.test("parseReply() names the field as which it read another name", () => {
  const read = parseReply('{"Code": [{"expr": "1", "time_ms": 5}]}');
  assert.deepEqual(read.ok ? read.reply.repairs : read, ['read "Code" as code', 'read "time_ms" as timeMs']);
});

Deno.test("parseReply() names a tool that the model called next to its text, and an alternative", () => {
  const call = { reasoning: "hm", toolCall: 'grep({"q":"x"})' };
  for (const text of ["", "Let me look.", "null"]) {
    const parsed = parseReply(text, call);
    assert.ok(!parsed.ok && parsed.fault === "tools");
    const says = 'The reply calls grep({"q":"x"}), but there are no tools: write TypeScript in code. Expected one JSON';
    assert.ok(parsed.reason.startsWith(says), parsed.reason);
  }
  const long = parseReply("", { reasoning: "", toolCall: `write(${"x\n".repeat(5_000)})` });
  assert.ok(!long.ok && long.reason.length < 600 && !long.reason.includes("\n"));
  const stored = parseReply(nativeCallText(call.toolCall));
  assert.deepEqual(stored, parseReply("", call), "a replay reads it as it was read at first");
  const read = parseReply('{"code":[{"expr":"1"}]}', call);
  assert.deepEqual(read.ok ? read.reply.repairs : read, [`ignored a call of ${call.toolCall}: there are no tools`]);
});

Deno.test("parseReply() distinguishes a reply with thoughts only from an empty one", () => {
  const faultOf = (text: string, reasoning: string) => {
    const parsed = parseReply(text, { reasoning, toolCall: null });
    return parsed.ok ? null : parsed.fault;
  };
  assert.deepEqual([faultOf("", ""), faultOf("", "hm"), faultOf(" null ", "hm"), faultOf("hi", "hm")], [
    "empty",
    "thinking",
    "thinking",
    "text",
  ]);
});

Deno.test("parseReply() names the tool of a call that is written as text", () => {
  const calls: readonly (readonly [string, string])[] = [
    ['<tool_call>\n{"name": "grep", "arguments": {"q": "x"}}\n</tool_call>', "grep"],
    [
      '<function_calls><invoke name="read_file"><parameter name="p">a</parameter></invoke></function_calls>',
      "read_file",
    ],
    ['<|channel|>commentary to=functions.ls <|constrain|>json<|message|>{"p":"a"}<|call|>', "ls"],
    ['[TOOL_CALLS][{"name": "search", "arguments": {}}]', "search"],
    ['{"tool_name": "grep", "arguments": {"q": "x"}}', "grep"],
  ];
  for (const [text, name] of calls) {
    const parsed = parseReply(text);
    assert.ok(!parsed.ok && parsed.fault === "tools", text);
    assert.ok(
      parsed.reason.startsWith(`The reply imitates a tool call (${name}), but there are no tools`),
      parsed.reason,
    );
  }
});

Deno.test("parseReply() reads a text whose fences only link modules as plain text, and runs each other fence", () => {
  const links = [
    "import { a } from './a.js'",
    'import * as b from "b";\nexport { b };',
    "// a.js\nexport * from './a.js'",
  ];
  for (const code of links) {
    const parsed = parseReply(`Use:\n\`\`\`js\n${code}\n\`\`\`\nThat is all.`);
    assert.ok(!parsed.ok && parsed.fault === "text" && parsed.prose?.endsWith("That is all."), code);
  }
  for (const code of ["import a from 'a'\na()", "export const a = 1", "await import('a')"]) {
    assert.ok(parseReply(`Use:\n\`\`\`js\n${code}\n\`\`\``).ok, code);
  }
  assert.ok(parseReply("```js\nimport 'a'\n```").ok, "without text, the model means to run it");
});
