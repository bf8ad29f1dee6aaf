import assert from "node:assert/strict";
import { pastedPaths } from "../../../../src/channels/tui/input/images.ts";

Deno.test("pastedPaths() reads what terminals paste for a file that is dropped on them", () => {
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

Deno.test("pastedPaths() reads a path with plain blanks or a quote in it as it is", () => {
  assert.deepEqual(pastedPaths("/tmp/my shot.png"), [["/tmp/my shot.png"]]);
  assert.deepEqual(pastedPaths("/tmp/it's.png"), [["/tmp/it's.png"]]);
});

Deno.test("pastedPaths() leaves everything else alone", () => {
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
