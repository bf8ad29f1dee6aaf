import assert from "node:assert/strict";
import { atWords, pastedPaths } from "../../src/domain/image_paths.ts";
import { cpuMs } from "../helpers/cpu_ms.ts";

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

Deno.test("atWords() returns the position of a word", () => {
  const text = `see @"my shot.png", then`;
  const [word] = atWords(text);
  assert.equal(text.slice(word?.start, word?.end), `@"my shot.png"`);
});

Deno.test("atWords() takes little time for megabytes of unclosed words", () => {
  for (const part of ["(@'", "(@", "@' ", "@x ", "@x.png"]) {
    const began = cpuMs();
    atWords(part.repeat(300_000));
    assert.ok(cpuMs() - began < 1_500, part);
  }
});

Deno.test("pastedPaths() reads the text that terminals paste for a dropped file", () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["/tmp/a.png", ["/tmp/a.png"]],
    ["'/tmp/my shot.png' ", ["/tmp/my shot.png"]],
    [`"/tmp/my shot.PNG"`, ["/tmp/my shot.PNG"]],
    ["/tmp/my\\ shot\\ \\(1\\).jpg ", ["/tmp/my shot (1).jpg"]],
    ["'/tmp/it'\\''s.png'", ["/tmp/it's.png"]],
    ["/tmp/a.png '/tmp/b c.gif'\n./d.webp", ["/tmp/a.png", "/tmp/b c.gif", "./d.webp"]],
    ["file:///tmp/my%20shot.png", ["file:///tmp/my%20shot.png"]],
    [`C:\\Users\\me\\shot.png`, [`C:\\Users\\me\\shot.png`]],
    ["/tmp/Screenshot\u202f1.png", ["/tmp/Screenshot\u202f1.png"]],
  ];
  for (const [text, wanted] of rows) assert.deepEqual(pastedPaths(text)[0], wanted, text);
});

Deno.test("pastedPaths() reads a path with plain blanks or a quote unchanged", () => {
  assert.deepEqual(pastedPaths("/tmp/my shot.png"), [["/tmp/my shot.png"]]);
  assert.deepEqual(pastedPaths("/tmp/it's.png"), [["/tmp/it's.png"]]);
});

Deno.test("pastedPaths() ignores all other text", () => {
  const texts = [
    ...[
      "",
      "shot.png",
      "look at /tmp/a.png please",
      "/etc/passwd",
      "/tmp/a.png /etc/passwd",
      "https://a.example/b.png",
    ],
    ...["const a = './b.png';", `/tmp/${"x".repeat(9_000)}.png`, "/tmp/\x1b]0;a.png"],
  ];
  for (const text of texts) assert.deepEqual(pastedPaths(text), [], text);
});
