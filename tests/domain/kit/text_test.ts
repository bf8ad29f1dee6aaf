import {
  ago,
  clip,
  durationText,
  elapsedText,
  harmlessText,
  localTime,
  oneLine,
  runningText,
  terminalText,
  visibleText,
} from "../../../src/domain/kit/text.ts";
import { clean } from "../../../src/page/parts/texts.tsx";
import assert from "node:assert/strict";
import fc from "fast-check";
import { anyText } from "../../helpers/any_text.ts";

Deno.test("clip() keeps the part that fits and names the number of omitted characters", () => {
  assert.equal(clip("abc", 3), "abc");
  assert.equal(clip("x".repeat(100), 50), `${"x".repeat(26)}… (+74 chars)`);
});

Deno.test("clip() stays within the limit, keeps the head and never halves a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.integer({ min: 24, max: 200 }), (text, limit) => {
      const clipped = clip(text, limit);
      assert.ok(clipped.length <= limit || clipped === text);
      assert.ok(clipped.isWellFormed());
      const left = /… \(\+(\d+) chars\)$/.exec(clipped);
      if (text.length > limit) assert.equal(clipped.length - (left?.[0].length ?? 0) + Number(left?.[1]), text.length);
      else assert.equal(clipped, text);
    }),
  );
});

Deno.test("oneLine() joins lines, and marks a cut", () => {
  assert.equal(oneLine("  a\n\t b  \r\n", 10), "a b");
  assert.equal(oneLine("abcdef", 4), "abc…");
  assert.equal(oneLine(`a${" ".repeat(500)}b`, 100), "a…");
  assert.equal(oneLine("😀".repeat(10), 4), "😀…");
});

Deno.test("oneLine() never exceeds the limit by more than its mark and holds no line end", () => {
  fc.assert(fc.property(fc.string({ maxLength: 400 }), fc.integer({ min: 1, max: 50 }), (text, limit) => {
    const line = oneLine(text, limit);
    assert.ok(line.length <= limit && !/[\n\r]/.test(line));
  }));
});

Deno.test("visibleText() escapes characters that command a terminal or reverse text, and keeps the rest", () => {
  assert.equal(visibleText("a\tb\nc\r\nd — é 😀"), "a\tb\nc\nd — é 😀");
  assert.equal(visibleText("\x1b[2J\x07\x7f\u009b\r"), "\\u001b[2J\\u0007\\u007f\\u009b\\u000d");
  assert.equal(visibleText("\u202eabc\u2066\u2028"), "\\u202eabc\\u2066\\u2028");
});

const SHOWN = [
  "👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 🕵🏽\u200d♂️ ❤\ufe0f ✔\ufe0e 1\ufe0f\u20e3",
  "葛\u{e0100}城 é e\u0301 日本 한국 العربية 🇩🇪",
];
const HIDDEN = [
  ..."\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2064\u2066\u2069\u3164\ufe0f\ufeff",
  ..."\uffa0\ufff9\u{e0001}\u{e0041}\u{e007f}\u{e0100}",
];

Deno.test("visibleText() and the page show invisible characters, and keep sequences of emoji", () => {
  for (const text of SHOWN) assert.deepEqual([visibleText(text), clean(text)], [text, text]);
  for (const char of HIDDEN) {
    const units = JSON.stringify(Array.from({ length: char.length }, (_, at) => char.charCodeAt(at)));
    assert.match(visibleText(`a${char}b`), /^a(\\u[0-9a-f]{4}){1,2}b$/, units);
    assert.match(clean(`a${char}b`), /^a‹U\+[0-9A-F]+›b$/, units);
  }
  assert.equal(visibleText("👩\u200d"), "👩\\u200d");
  assert.equal(visibleText("\u200d👩"), "\\u200d👩");
  assert.equal(visibleText("👩\u200db"), "👩\\u200db");
  assert.equal(visibleText("❤\ufe0f\ufe0f"), "❤\ufe0f\\ufe0f");
  assert.equal(visibleText("1\ufe0f"), "1\\ufe0f");
});

Deno.test("visibleText() and the page agree about every character", () => {
  fc.assert(fc.property(anyText(), (text) => {
    const same = text.replaceAll("\r\n", "\n");
    assert.equal(visibleText(text) === same, clean(text) === same);
  }));
});

Deno.test("visibleText() changes nothing the second time", () => {
  for (const char of HIDDEN) assert.equal(visibleText(visibleText(char)), visibleText(char));
});

Deno.test("visibleText() of JSON is JSON of the same value", () => {
  const value = { text: "\x1b\u009b\u202e\u2028\x7f\ud800\u200b\u{e0041}" };
  assert.deepEqual(JSON.parse(visibleText(JSON.stringify(value))), value);
});

Deno.test("visibleText() passes no control character", () => {
  fc.assert(fc.property(anyText(), (text) => {
    assert.doesNotMatch(visibleText(text), /[^\P{Cc}\t\n]/u);
  }));
});

Deno.test("harmlessText() escapes characters that control a terminal, and keeps the joiners that people write", () => {
  assert.equal(
    harmlessText("\x1b[2J\x07\x7f\u009b\r\u202e\u2028\r\n"),
    "\\u001b[2J\\u0007\\u007f\\u009b\\u000d\\u202e\\u2028\n",
  );
  const written = "می\u200cخواهم क्\u200dष 👩\u200d💻";
  assert.equal(harmlessText(written), written);
});

Deno.test("localTime() is the time of the clock on the wall", () => {
  const days = fc.date({ min: new Date(1970, 0, 2), max: new Date(2200, 0, 1), noInvalidDate: true });
  const two = (part: number, size = 2): string => String(part).padStart(size, "0");
  fc.assert(fc.property(days, (at) => {
    const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
    const minute = `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
    const second = `${minute}:${two(at.getSeconds())}`;
    assert.deepEqual(
      (["day", "minute", "second", "ms"] as const).map((to) => localTime(at.getTime(), to)),
      [day, minute, second, `${second}.${two(at.getMilliseconds(), 3)}`],
    );
    assert.equal(ago(at.getTime(), at.getTime() + 31 * 86_400_000), day);
  }));
});

Deno.test("a time of a minute or more is in minutes and seconds, and running work counts whole seconds", () => {
  assert.deepEqual([420, 4_200, 59_400, 59_970, 119_600].map(durationText), [
    ...["420 ms", "4.2 s", "59.4 s"],
    ...["1 min 0 s", "2 min 0 s"],
  ]);
  assert.equal(elapsedText(420), "0.4 s");
  assert.deepEqual([900, 59_999, 60_000, 1_487_900].map(runningText), ["0 s", "59 s", "1 min 0 s", "24 min 47 s"]);
});

Deno.test("terminalText() has no escape sequences, and of each line the part that a terminal shows last", () => {
  const cases = [
    ["\x1b[1;32mready\x1b[0m\r\n", "ready\n"],
    ["10%\r50%\r99%\r\nnext", "99%\nnext"],
    ["\x1b]0;title\x07a\x1b]8;;https://x\x1b\\b", "ab"],
    ["\x1b[2K\x1b[1Aup\n\n", "up\n\n"],
    ["plain\n", "plain\n"],
  ] as const;
  for (const [output, shown] of cases) assert.equal(terminalText(output), shown);
});
