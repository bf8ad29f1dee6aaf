import assert from "node:assert/strict";
import { atWords } from "../../../../src/channels/tui/input/images.ts";
import { cpuMs } from "../../../helpers/cpu_ms.ts";

const paths = (text: string): readonly string[] => atWords(text).map(({ path }) => path);

Deno.test("atWords() finds images behind an @, in quotes, with guarded blanks, at the end of a sentence", () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["@shot.png what is it", ["shot.png"]],
    ["compare @a.png and @b.JPEG, please (@c.webp).", ["a.png", "b.JPEG", "c.webp"]],
    [`look: @"my shot.png", @'it is.gif' @my\\ shot.png`, ["my shot.png", "it is.gif", "my shot.png"]],
    ["@~/x.png @/tmp/y.jpg @../z.png\n@w.png", ["~/x.png", "/tmp/y.jpg", "../z.png", "w.png"]],
    ["me@example.png, @types/node, @a.ts, @, shot.png, a@b.png", []],
    [`@"left open.png`, []],
  ];
  for (const [text, wanted] of rows) assert.deepEqual(paths(text), wanted, text);
});

Deno.test("atWords() tells where a word stands", () => {
  const text = `see @"my shot.png", then`;
  const [word] = atWords(text);
  assert.equal(text.slice(word?.start, word?.end), `@"my shot.png"`);
});

Deno.test("atWords() takes no time for megabytes of words that nobody closes", () => {
  for (const part of ["(@'", "(@", "@' ", "@x ", "@x.png"]) {
    const began = cpuMs();
    atWords(part.repeat(300_000));
    assert.ok(cpuMs() - began < 1_500, part);
  }
});
