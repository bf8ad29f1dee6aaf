import assert from "node:assert/strict";
import { answerOf, questionText } from "../../../../src/channels/cli/query_command.ts";

Deno.test("answerOf() takes a letter or word of a choice; everything else is a no with its reason", () => {
  const said = (line: string, lasting = true) => {
    const { decision, reason } = answerOf(line, { scope: "doors", lasting });
    return `${decision} ${reason}`.trim();
  };
  assert.deepEqual(["y", " YES ", "c", "always", "n", "", "not today"].map((line) => said(line)), [
    "once",
    "once",
    "conversation",
    "workspace",
    "no",
    "no",
    "no not today",
  ]);
  assert.deepEqual(["y", "a", "conversation"].map((line) => said(line, false)), ["once", "no a", "no conversation"]);
});

Deno.test("questionText() breaks long lines between words and keeps the choices in one column", async () => {
  const question = {
    ...{ id: "q", extension: "vis.shell", why: "", what: "run a command with access to the network" },
    exact: "npm ci",
    scope: "network for npm ci (/usr/lib/node_modules/npm/bin/npm-cli.js)",
  };
  assert.equal(
    await questionText(question, { width: 60 }),
    `Allow Vis to run a command with access to the network?
  npm ci
  y  yes, for this call only
  c  yes, and network for npm ci
     (/usr/lib/node_modules/npm/bin/npm-cli.js) in this
     conversation
  a  yes, and network for npm ci
     (/usr/lib/node_modules/npm/bin/npm-cli.js) in this
     workspace from now on
  n  no
Answer with a letter, or say why not: `,
  );
});

Deno.test("questionText() shows a change as a diff behind a bar", async () => {
  const change = "--- .env\n+++ .env\n@@ -2,1 +2,1 @@\n-[not shown]\n+KEY=4\n  y  yes\n";
  const question = { id: "q", extension: "vis.fs", why: "", what: "change .env", change, scope: "x", lasting: false };
  assert.deepEqual((await questionText(question, { width: 60 })).split("\n"), [
    "Allow Vis to change .env?",
    "  │ .env +1 −1",
    "  │ 2 - [not shown]",
    "  │ 2 + KEY=4",
    "  │   y  yes",
    "  y  yes, for this call only",
    "  n  no",
    "Answer with a letter, or say why not: ",
  ]);
});
