import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../extensions/fs/mod.ts";
import { parseReply } from "../../src/prompt/reply/parse_reply.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const PAGE = await Deno.readTextFile(new URL("../../docs/internals/protocol.md", import.meta.url));
const TAGS = ["notes", "prior_thinking", "earlier", "journal", "attempts", "var_index"];

/** The rows of the table whose first column has this name: code spans, and what stands before the second one. */
function tableOf(column: string): { readonly left: string; readonly before: string; readonly right: string }[] {
  const [, body = ""] = PAGE.split(new RegExp(`^\\| ${column} +\\|.*\n\\|.*\n`, "m"));
  const rows = body.split("\n\n")[0]!.split("\n");
  return rows.map((row) => {
    const [, left = "", before = "", right = ""] = /^\| `(.*?)` +\| ([a-z: ]*)`(.*)` +\|$/.exec(row) ?? [];
    assert.notEqual(right, "", `Cannot read this row: ${row}`);
    return { left, before, right };
  });
}

function fenced(language: string): string {
  return new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "m").exec(PAGE)?.[1] ?? "";
}

Deno.test("docs/internals/protocol.md: the reply is one that Vis takes, runs and answers with", async () => {
  const reply = fenced("json");
  const parsed = parseReply(reply);
  assert.ok(parsed.ok);
  assert.deepEqual(parsed.reply.repairs, []);
  await withFolder(async (workspace) => {
    await Deno.mkdir(join(workspace, "src"));
    await Deno.writeTextFile(join(workspace, "src/a.ts"), "parse_a()\nparse_b()\n");
    await using engine = await startEngine([reply], { extensions: [fs], workspace });
    const { answer, confidence } = await engine.ask("How many?");
    assert.deepEqual([answer, confidence], ["2 call sites", "high"]);
  });
});

Deno.test("docs/internals/protocol.md: the parts of the context are those that are sent, in this order", async () => {
  const example = fenced("text");
  const order = (text: string): string[] =>
    TAGS.filter((tag) => text.includes(`<${tag}>`)).toSorted((a, b) => text.indexOf(`<${a}>`) - text.indexOf(`<${b}>`));
  assert.deepEqual(order(example), TAGS);
  await using engine = await startEngine([
    replyJson(["'large'.repeat(4790)"]),
    replyJson(["const first = [1]"], { thinking: "Begin." }),
    replyJson(["1; vars()[0].name", "const second = 2"], { thinking: "Go on.", final: "{{missing}}" }),
    replyJson([], { final: "It is {{second}}" }),
  ]);
  await engine.ask("x");
  const sent = engine.context(3);
  assert.deepEqual(order(sent), TAGS);
  assert.match(example, /^\[iter 2\/4\]\n/);
  assert.match(sent, /^\[iter 4\/4\]\n/);
});

Deno.test("docs/internals/protocol.md: blocks show what the table says", async () => {
  const rows = tableOf("block");
  assert.ok(rows.length > 8);
  await using engine = await startEngine([
    replyJson(rows.map(({ left }) => left)),
    replyJson([], { final: "It is finished." }),
  ]);
  await engine.ask("x");
  const shown = engine.events.flatMap((event) => {
    if (event.type !== "block_finished") return [];
    const { error, preview, stdout } = event.result;
    return [stdout.trimEnd() + (error ? `${error.name}: ${error.message}` : preview)];
  });
  assert.deepEqual(shown, rows.map(({ right }) => right));
});

Deno.test("docs/internals/protocol.md: answers become what the table says, or are refused with its reason", async () => {
  const rows = tableOf("answer");
  assert.ok(rows.length > 8);
  const [, declared = ""] = /^After `(.*)`:$/m.exec(PAGE) ?? [];
  for (const { left, before, right } of rows) {
    await using engine = await startEngine([
      replyJson([declared]),
      replyJson([], { final: left }),
      replyJson([], { final: "It is over." }),
    ]);
    const { answer } = await engine.ask("x");
    if (before === "") assert.equal(answer, right, left);
    else {
      assert.equal(before, "refused: ");
      assert.equal(answer, "It is over.");
      assert.ok(engine.context(2).includes(right), `${left}\n${engine.context(2)}`);
    }
  }
});
