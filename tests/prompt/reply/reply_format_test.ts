import assert from "node:assert/strict";
import { replyFormat } from "../../../src/prompt/prompt.ts";
import { parseReply } from "../../../src/prompt/reply/parse_reply.ts";
import { describeReply, replySchema } from "../../helpers/reply_schema.ts";
import fs from "../../../extensions/fs/mod.ts";

Deno.test("describeReply() names every field of the schema and every choice", () => {
  const text = describeReply();
  const fields = [
    "thinking",
    "code",
    "expr",
    "timeMs",
    "next",
    "model",
    "reasoning",
    "final",
    "answer",
    "answerType",
    "confidence",
  ];
  for (const field of fields) assert.ok(text.includes(`"${field}"`), field);
  assert.ok(text.includes('"cost" | "speed" | "intelligence"') && text.includes('"quick" | "balanced" | "deep"'));
  assert.ok(text.includes('"high" | "medium" | "low"') && text.includes('"text" | "markdown"'));
  assert.ok(text.includes('"thinking"?: string') && text.includes('"expr": string') && text.includes("}[]"));
});

Deno.test("replyFormat() begins with the text of describeReply()", () => {
  assert.ok(replyFormat().startsWith(`${describeReply()}\nTo work: {`));
});

Deno.test("replyFormat() gives the same bytes each time and at most 1 KB", () => {
  assert.equal(replyFormat(), replyFormat());
  for (const text of [replyFormat(), replyFormat(fs.example)]) {
    assert.ok(new TextEncoder().encode(text).length <= 1_000);
  }
});

Deno.test("replyFormat() shows examples that keep the format: an extension's, or one without extensions", () => {
  assert.match(replyFormat(fs.example), /await fs\.count/);
  assert.doesNotMatch(replyFormat(), /fs\./);
  const examples = [replyFormat(), replyFormat(fs.example)].flatMap((text) =>
    text.split("\n").filter((line) => line.startsWith("To "))
  );
  assert.equal(examples.length, 4);
  for (const line of examples) {
    const text = line.slice(line.indexOf("{"));
    assert.ok(replySchema.safeParse(JSON.parse(text)).success, text);
    const parsed = parseReply(text);
    assert.ok(parsed.ok && parsed.reply.repairs.length === 0);
  }
});

Deno.test("replySchema refuses an invalid reply", () => {
  for (const value of [null, [], { code: "x" }, { code: [{}] }, { final: {} }, { next: { model: "gpt" } }]) {
    assert.equal(replySchema.safeParse(value).success, false, JSON.stringify(value));
  }
});
