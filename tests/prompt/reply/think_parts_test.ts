import assert from "node:assert/strict";
import fc from "fast-check";
import { parseReply } from "../../../src/prompt/reply/parse_reply.ts";
import { ReplyStream } from "../../../src/prompt/reply/stream_reply.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";
import { runs as times } from "../../helpers/long_part.ts";

const NEXT = "<|start|>assistant<|channel|>final<|message|>";

/** Maps families of models to the beginning and the end of their thinking. */
const FAMILIES: Readonly<Record<string, readonly [string, string]>> = {
  "DeepSeek, Qwen, GLM, Kimi": ["<think>\n", "\n</think>\n\n"],
  "prompts for thinking": ["<thinking>", "</thinking>"],
  "EXAONE": ["<thought>\n", "\n</thought>\n"],
  "fine-tunes": ["<reasoning>", "</reasoning>"],
  "MiniMax": ["<mm:think>", "</mm:think>"],
  "Seed": ["<seed:think>", "</seed:think>"],
  "Hunyuan": ["<think>\n", "\n</think>\n<answer>\n"],
  "Magistral": ["[THINK]", "[/THINK]"],
  "Kimi-VL": ["◁think▷", "◁/think▷"],
  "Pangu": ["[unused16]", "[unused17]"],
  "OpenThinker": ["<|begin_of_thought|>\n\n", "\n\n<|end_of_thought|>\n\n<|begin_of_solution|>\n\n"],
  "Command": ["<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"],
  "Solar": ["<|think|>", "<|end|><|begin|>assistant<|content|>"],
  "gpt-oss": ["<|channel|>analysis<|message|>", `<|end|>${NEXT}`],
  "gpt-oss with the role": ["<|start|>assistant<|channel|>analysis<|message|>", `<|end|>${NEXT}`],
  "gpt-oss, no end": ["<|channel|>analysis<|message|>", NEXT],
  "gpt-oss, JSON": ["<|channel|>analysis<|message|>", "<|end|><|channel|>final <|constrain|>json<|message|>"],
  "gpt-oss without marks": ["analysis", "assistantfinal"],
  "Gemma": ["<|channel>thought\n", "<channel|>"],
  "Gemma without bars": ["<channel>thought\n", "</channel>"],
  "Apertus": ["<|inner_prefix|>", "<|inner_suffix|>"],
  "Kimi K3": ["<|open|>think<|sep|>", "<|close|>think<|sep|><|open|>response<|sep|>"],
  "Inkling": ["<|content_thinking|>", "<|end_message|><|message_model|><|content_text|>"],
  "Granite": ["Here is my thought process:", "Here is my response:"],
};
const DRAFT = JSON.stringify({ thinking: "t", code: [{ expr: "draft()" }], final: { answer: "draft" } });
const REAL = JSON.stringify({ code: [{ expr: "real()" }] });

const family = fc.constantFrom(...Object.values(FAMILIES));
/** Generates the thinking of a model: prose with drafts of replies and of code. */
const thought = fc.array(
  fc.oneof(
    fc.constantFrom(...[
      DRAFT,
      `\n${DRAFT}\n`,
      "```ts\ndraft()\n```\n",
      `\`\`\`json\n${DRAFT}\n\`\`\`\n`,
      "{ x",
      "don't ",
    ]),
    fc.constantFrom(...['{"code":[{"expr":"draft(', "No, wait. ", 'use `a` or "b". ', "}"]),
    fc.string({ maxLength: 8 }).filter((text) => !/[<[◁`"'/]|think/i.test(text)),
  ),
  { maxLength: 6 },
).map((parts) => `We think ${parts.join(" ")}.`);

function runs(text: string): readonly string[] {
  const parsed = parseReply(text);
  if (!parsed.ok) return [];
  assert.notEqual(parsed.reply.final?.answer, "draft", text);
  return parsed.reply.code.map(({ expr }) => expr);
}

Deno.test("parseReply() obeys the reply after thinking, whatever was drafted in it", () => {
  fc.assert(
    fc.property(family, thought, fc.constantFrom("", "\n", " "), ([open, close], text, gap) => {
      assert.deepEqual(runs(`${open}${text}${close}${gap}${REAL}`), ["real()"]);
      assert.deepEqual(runs(`${open}${text}${close}${gap}\`\`\`json\n${REAL}\n\`\`\``), ["real()"]);
    }),
    { numRuns: times(250, 1_000) },
  );
});

Deno.test("parseReply() obeys a reply whose strings have marks, after thinking that speaks of marks", () => {
  fc.assert(
    fc.property(family, family, thought, ([open, close], [other, end], text) => {
      const expr = `s.split(${JSON.stringify(other)}).join(${JSON.stringify(end)})`;
      const spoken = `${text} I know \`${other.trim()}\`, "${end.trim()}" and ${JSON.stringify({ expr })}.`;
      assert.deepEqual(runs(`${open}${spoken}${close}${JSON.stringify({ code: [{ expr }] }, null, 2)}`), [expr]);
    }),
    { numRuns: times(250, 1_000) },
  );
});

Deno.test("parseReply() obeys nothing of thinking that was cut, wherever that was", () => {
  for (const [name, [open]] of Object.entries(FAMILIES)) {
    const text = `${open}We draft ${DRAFT}\n\`\`\`ts\ndraft()\n\`\`\`\nand ${DRAFT}`;
    for (let end = open.length; end <= text.length; end++) {
      const parsed = parseReply(text.slice(0, end));
      assert.ok(!parsed.ok, `${name}: ${text.slice(0, end)}`);
    }
  }
});

Deno.test("parseReply() takes for thinking all that comes before its end, where a template wrote its beginning", () => {
  const own = ["gpt-oss, no end", "gpt-oss with the role", "gpt-oss without marks", "Gemma without bars"];
  const closes = Object.entries(FAMILIES).filter(([name]) => !own.includes(name)).map(([, [, close]]) => close);
  fc.assert(fc.property(fc.constantFrom(...closes), thought, (close, text) => {
    assert.deepEqual(runs(`${text}${close}${REAL}`), ["real()"]);
  }));
});

Deno.test("parseReply() leaves marks in strings of a reply alone", () => {
  for (const [open, close] of Object.values(FAMILIES)) {
    const expr = `s.replaceAll(${JSON.stringify(open)}, ${JSON.stringify(close)})`;
    const reply = JSON.stringify({ code: [{ expr }] });
    for (const text of [reply, `Sure:\n${reply}`, `\`\`\`json\n${reply}\n\`\`\``, `<think>t</think>${reply}`]) {
      assert.deepEqual(runs(text), [expr], text);
    }
  }
});

Deno.test("push() shows thinking and code the same wherever their marks are split", () => {
  const split = (text: string, size: number) => {
    const reader = new ReplyStream();
    let thinking = "";
    const code: string[] = [];
    for (let at = 0; at < text.length; at += size) {
      const found = reader.push(text.slice(at, at + size));
      thinking += found.thinking;
      for (const { block, delta } of found.code) code[block] = (code[block] ?? "") + delta;
    }
    return { thinking, code };
  };
  for (const [name, [open, close]] of Object.entries(FAMILIES)) {
    const text = `${open}We draft ${DRAFT} <b>and [more]${close}${REAL}`;
    const whole = split(text, text.length);
    assert.deepEqual(whole.code, ["real()"], name);
    assert.equal(whole.thinking.trim(), `We draft ${DRAFT} <b>and [more]`, name);
    for (let size = 1; size < 40; size++) assert.deepEqual(split(text, size), whole, `${name} by ${size}`);
  }
});

Deno.test("parseReply() and push() take time in proportion to marks and values without an end", () => {
  const units = [
    ...[
      "<think></think>",
      "</think>",
      "<|channel|>analysis<|message|>",
      "<|end|>",
      '{"a":',
      "[[",
      '{"code":[{"expr":"a',
    ],
    ...["`<think>`", "a>", "Here is my thought process:", "analysisA", "```ts\n", '<think>{"a":1}', "\n</think>{"],
  ];
  const chars = times(60_000, 500_000);
  for (const unit of units) {
    const text = unit.repeat(Math.ceil(chars / unit.length));
    const begun = cpuMs();
    parseReply(text);
    new ReplyStream().push(text);
    assert.ok(cpuMs() - begun < chars * 0.008, `${unit} took ${cpuMs() - begun} ms`);
  }
});

Deno.test("parseReply() a complete reply counts, whatever token or end of thinking comes after it", () => {
  const reply = JSON.stringify({ final: { answer: "Three lines." } });
  const tails = ["<|end|>", "<|end|>\n", "<|end|><|endoftext|>", "</think>", "\n</think>", "</thinking>", "[/THINK]"];
  const replies = [
    ...tails.map((tail) => reply + tail),
    `\`\`\`json\n${reply}\n\`\`\`<|end|>`,
    `<|assistant|>${reply}<|end|>`,
    `Sure.\n${reply}<|end|>`,
    `<think>hm</think>${reply}</think>`,
    `\`\`\`\n<think>\n\`\`\`\n${reply}`,
    `\`\`\`\n<|channel|>analysis<|message|>\n\`\`\`\n${reply}`,
  ];
  for (const text of replies) {
    const parsed = parseReply(text);
    assert.equal(parsed.ok && parsed.reply.final?.answer, "Three lines.", text);
  }
});

Deno.test("parseReply() code in thinking does not run, also where only its end or nothing else is there", () => {
  const code = JSON.stringify({ code: [{ expr: "draft()" }] });
  for (
    const text of [
      `<reasoning_content>let me ${code}</reasoning_content>`,
      `<analysis>${code}</analysis>`,
      `<scratch_pad>x ${code}</scratch_pad>`,
      `Let me see: ${code} no</think>`,
      `${code}</think>${JSON.stringify({ final: { answer: "real" } })}`,
      `\`\`\`json\n<think>x ${code}</think>{"final":{"answer":"real"}}\n\`\`\``,
    ]
  ) {
    assert.deepEqual(runs(text), [], text);
  }
});
