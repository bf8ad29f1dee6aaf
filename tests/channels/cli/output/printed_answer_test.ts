import assert from "node:assert/strict";
import { printedAnswer } from "../../../../src/channels/cli/query_command.ts";

const MARKDOWN = "# Sizes\n\n| file | lines |\n| --- | ---: |\n| a.ts | 12 |\n\n- **one**\n  - two\n";
const terminal = { stdoutIsTerminal: true, stdoutColor: true, columns: () => 60 };
const markdown = { answer: MARKDOWN, answerType: "markdown" } as const;

Deno.test("printedAnswer() writes the exact answer to a pipe, with a line end", async () => {
  const pipe = { ...terminal, stdoutIsTerminal: false };
  assert.equal(await printedAnswer(markdown, pipe), MARKDOWN);
  assert.equal(await printedAnswer({ answer: "\u001b[2Jx", answerType: "text" }, pipe), "\u001b[2Jx\n");
});

Deno.test("printedAnswer() draws Markdown on a terminal, with colours if it has some, within its width", async () => {
  const drawn = await printedAnswer(markdown, terminal);
  assert.ok(drawn.includes("\u001b[1m") && drawn.includes("Sizes"));
  assert.match(drawn, /a\.ts/);
  assert.ok(!drawn.includes("---:") && !drawn.includes("**one**"));
  const plain = await printedAnswer(markdown, { ...terminal, stdoutColor: false });
  assert.ok(!plain.includes("\u001b") && plain.includes("Sizes") && plain.endsWith("\n"));
  const long = { answer: `# x\n\n${"word ".repeat(60)}`, answerType: "markdown" } as const;
  const lines = (await printedAnswer(long, { ...terminal, stdoutColor: false })).split("\n");
  assert.ok(lines.length > 4 && lines.every((line) => line.length <= 60));
});

Deno.test("printedAnswer() lays JSON out for the width of a terminal, and keeps it exact in a pipe", async () => {
  const rows = [{ id: 1, tags: ["a", "b"] }, { id: 2, tags: [], note: "x".repeat(50) }];
  const shown = [
    "{",
    '  "rows": [',
    '    { "id": 1, "tags": ["a", "b"] },',
    "    {",
    '      "id": 2,',
    '      "tags": [],',
    `      "note": "${"x".repeat(50)}"`,
    "    }",
    "  ]",
    "}",
    "",
  ].join("\n");
  for (const answerType of ["text", "markdown"] as const) {
    for (const indent of [0, 2]) {
      const answer = JSON.stringify({ rows }, null, indent);
      assert.equal(await printedAnswer({ answer, answerType }, terminal), shown);
      assert.equal(
        await printedAnswer({ answer, answerType }, { ...terminal, stdoutIsTerminal: false }),
        `${answer}\n`,
      );
    }
  }
  const deep = { answer: "[".repeat(40_000) + "]".repeat(40_000), answerType: "text" } as const;
  assert.equal(await printedAnswer(deep, terminal), `${deep.answer}\n`);
  const digits = { answer: '{"id": 12345678901234567890}', answerType: "text" } as const;
  assert.equal(await printedAnswer(digits, terminal), `${digits.answer}\n`, "a value would lose digits");
});

Deno.test("printedAnswer() does not change other text on a terminal, except for cursor movements", async () => {
  const code = { answer: "  a_b_c * d_e_f\n\u001b[2J\ttwo  blanks", answerType: "text" } as const;
  const shown = await printedAnswer(code, terminal);
  assert.ok(shown.startsWith("  a_b_c * d_e_f\n") && !shown.includes("\u001b") && shown.includes("two  blanks"));
});
