import assert from "node:assert/strict";
import fs from "../../extensions/fs/mod.ts";
import { defineExtension, fn, z } from "../../src/extension/spec.ts";
import { blockLine } from "../../src/domain/query/block_line.ts";
import { QueryProgress, type StepBlock } from "../../src/domain/query/query_progress.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const commands = defineExtension({
  namespace: "test.commands",
  alias: { ns: "test.commands", alias: "commands" },
  doc: "Commands.",
  version: "1.0.0",
  symbols: [
    fn("run", (_env, command: string) => ({ output: command.slice(5) }), {
      doc: "Runs.",
      args: z.tuple([z.string()]),
      returns: "{output}",
      action: { doing: "running", done: "ran", things: "commands" },
      outcome: ({ output }: { readonly output: string }) => output,
    }),
    fn("quiet", () => 1, { doc: "Says nothing.", args: z.tuple([]), returns: "number" }),
  ],
});

Deno.test("who watches reads what each block did: files, commands and how they turned out, else its code", async () => {
  await withFolder(async (workspace) => {
    for (const name of ["a.ts", "b.ts"]) await Deno.writeTextFile(`${workspace}/${name}`, "one\n");
    await using engine = await startEngine([
      replyJson([
        'const all = await fs.readFiles("*.ts"); await fs.edit("a.ts", { old: "one", new: "two" })',
        'await commands.run("echo 12 passed"); await commands.quiet()',
        "all.length + 1",
        'await fs.readFile("none.ts")',
        "await vars()",
      ]),
      replyJson([], { final: "All was read: {{all.length}}" }),
    ], { extensions: [fs, commands], workspace });
    const progress = new QueryProgress();
    const blocks: (readonly StepBlock[])[] = [];
    const doing: string[] = [];
    await engine.ask("Look");
    for (const event of engine.events) {
      progress.take(event);
      if (event.type === "host_call" && event.phase === "start") doing.push(progress.doing);
      if (event.type === "iteration_finished") blocks.push(progress.step?.blocks ?? []);
    }
    assert.deepEqual(blocks[0]?.map((block) => blockLine(block).text), [
      "read *.ts · 2 files, edited a.ts",
      "ran echo 12 passed · 12 passed, called commands.quiet",
      "all.length + 1 → 3",
      'await fs.readFile("none.ts")',
      blockLine(blocks[0]?.[4] ?? assert.fail()).text,
    ]);
    assert.match(blockLine(blocks[0]?.[4] ?? assert.fail()).text, /^await vars\(\) → /);
    assert.deepEqual(doing, [
      "reading *.ts",
      "editing a.ts",
      "running echo 12 passed",
      "calling commands.quiet",
      "reading none.ts",
      "running block 5",
    ]);
  });
});
