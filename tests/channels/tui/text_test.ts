import assert from "node:assert/strict";
import { visibleWidth } from "@earendil-works/pi-tui";
import fc from "fast-check";
import { wrapped } from "../../../src/channels/tui/text/wrapped.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";
import { replyJson, type ScriptedReply } from "../../helpers/scripted_provider.ts";
import { streamsAnswer, withScreen } from "./_rig.ts";
import { runs } from "../../helpers/long_part.ts";

const ENTER = "\r";
const markdown = (answer: string, chunk = 16): ScriptedReply => ({
  text: replyJson([], { final: { answer, answerType: "markdown", confidence: "high" } }),
  chunk,
});

Deno.test("nothing that a model writes commands the terminal", async () => {
  const evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b1m \u202egnp.exe\u202c \x1b]52;c;aGk=\x07 end";
  const replies = [
    replyJson(`console.log(${JSON.stringify(evil)}); throw new Error(${JSON.stringify(evil)});`, { thinking: evil }),
    markdown(`# ${evil}\n\n[x](http://a/${evil})\n\n\`\`\`ts\n${evil}\n\`\`\`\n\n| a |\n|---|\n| ${evil} |`),
  ];
  await withScreen(replies, { color: true, rows: 60 }, async ({ screen }) => {
    screen.type(`go${ENTER}`);
    await screen.until("2 steps");
    const { raw } = screen;
    for (const bad of ["\x1b]0;owned", "\x1b]52;", "\x9b", "\u202e"]) {
      assert.ok(!raw.includes(bad), JSON.stringify(bad));
    }
    assert.match(screen.screen(), /\\u001b\[31mred/);
  });
});

Deno.test("wide characters and emoji take their cells at every width", async () => {
  const text = "日本語のテキスト 👨‍👩‍👧‍👦 family 😀 çé한국어 ".repeat(20);
  await withScreen(
    [replyJson(`"${text}"`, { thinking: text }), markdown(text)],
    { columns: 60 },
    async ({ screen }) => {
      screen.type(`${text}${ENTER}`);
      await screen.until("2 steps");
      for (const columns of [41, 79, 20, 60]) {
        screen.resize(columns, 24);
        await screen.settled();
        await new Promise((resolve) => setTimeout(resolve, 40));
        await screen.settled();
        for (const line of screen.lines()) assert.ok(visibleWidth(line) <= columns, line);
        assert.match(screen.screen(), /─{10}/);
      }
    },
  );
});

Deno.test("the screen changes its size while an answer streams, down to a few cells", async () => {
  const answer = Array.from({ length: 200 }, (_, n) => `- item ${n} with some words`).join("\n");
  await withScreen([], {}, async ({ screen, engine }) => {
    streamsAnswer(engine, { answer });
    screen.type(`go${ENTER}`);
    await screen.until(/item \d\d? /);
    for (const [columns, rows] of [[40, 10], [10, 4], [3, 2], [1, 1], [200, 60], [80, 24]] as const) {
      screen.resize(columns, rows);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await screen.until("item 199");
    await screen.until("1 step ");
  });
});

Deno.test("the visible text stays in place while more arrives, and End jumps to the end", async () => {
  const answer = Array.from({ length: 400 }, (_, n) => `Paragraph ${n}.`).join("\n\n");
  await withScreen([], {}, async ({ screen, engine }) => {
    streamsAnswer(engine, { answer });
    screen.type(`go${ENTER}`);
    await screen.until(/Paragraph [3-9]\d\./);
    screen.type("\x1b[5~");
    await screen.until("↓ End");
    const before = screen.lines().slice(0, 15);
    await screen.until((text) => !text.includes("Esc cancels"));
    assert.deepEqual(screen.lines().slice(0, 15), before);
    screen.type("\x1b[F");
    await screen.until("Paragraph 399.");
    screen.type("\x1b[<64;5;5M");
    await screen.until("↓ End");
    for (let n = 0; n < 3; n++) screen.type("\x1b[<65;5;5M");
    await screen.until((text) => !text.includes("↓ End"));
  });
});

/** Generates any code unit, and more often characters with an unusual number of columns. */
const ANY = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) },
  fc.constantFrom(
    "\u0903",
    "\u0301",
    "\ufe0f",
    "\u200d",
    "\u20e3",
    "\u0e33",
    "क",
    "्",
    "☺",
    "1",
    " ",
    "ｱ",
    "ﾞ",
    "😀",
    "🇩",
  ),
);

Deno.test("wrapped() keeps short lines as they are, wraps long ones, and widens tabs", () => {
  assert.deepEqual(wrapped("one\n\ntwo three four\n\tx", 9), ["one", "", "two three", "four", "    x"]);
});

Deno.test("wrapped() reports the omitted text", () => {
  const text = Array.from({ length: 30 }, (_, n) => `line ${n}`).join("\n");
  assert.deepEqual(wrapped(text, 40, { most: 2 }).at(-1), "… 28 more lines (Ctrl-O)");
  assert.deepEqual(wrapped("x".repeat(30_000), 10, { most: 2 }), ["x".repeat(10), "x".repeat(10), "… more (Ct"]);
  assert.deepEqual(wrapped("a\nb", 10, { most: 2 }), ["a", "b"]);
});

Deno.test("wrapped() reads no more of megabytes than is shown", () => {
  const began = cpuMs();
  assert.equal(wrapped("日本語 text ".repeat(2_000_000), 80, { most: 8 }).length, 9);
  assert.ok(cpuMs() - began < 1_000);
});

Deno.test("wrapped() is never wider than asked for and never commands the terminal", () => {
  fc.assert(
    fc.property(fc.string({ unit: ANY, maxLength: 60 }), fc.integer({ min: 1, max: 30 }), (text, width) => {
      for (const line of wrapped(text, width, { most: 5 })) {
        assert.ok(visibleWidth(line) <= width || (width === 1 && [...line].length === 1), JSON.stringify(line));
        // deno-lint-ignore no-control-regex
        assert.doesNotMatch(line, /[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/);
      }
    }),
    { numRuns: runs(125, 500), examples: [[`a${"\u0903".repeat(60)} b`, 7], ["⺀ఁ", 2], ["☺\ufe0f👨‍👩‍👧‍👦🇩🇪", 1]] },
  );
});

Deno.test("wrapped() continues a character that is wider than a line in the next one, without loss", () => {
  const wide = `a${"\u0903".repeat(60)}`;
  const lines = wrapped(`x ${wide} y`, 20);
  assert.equal(lines.join("").replaceAll(" ", ""), `x${wide}y`);
  assert.deepEqual(lines.map(visibleWidth), [1, 20, 20, 20, 1, 1]);
  const began = cpuMs();
  wrapped(`a${"\u0301".repeat(15_000)}${"\u0903".repeat(4_000)}`, 80);
  assert.ok(cpuMs() - began < 1_000);
});
