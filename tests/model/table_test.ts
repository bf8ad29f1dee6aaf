import assert from "node:assert/strict";
import { realm } from "../../extensions/realm.ts";
import { realmScripts } from "../../src/extension/loader.ts";
import { validate } from "../../src/extension/mod.ts";
import { ownPart } from "../../src/extension/extension_part.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import table from "../../extensions/tabular/mod.ts";

Deno.test("blocks read and write CSV, make tables and format numbers without await", async () => {
  const extension = realmScripts(validate(table), realm.tabular);
  await using engine = await startEngine([
    replyJson([
      'const rows = tables.parse("name,n\\nb,2\\na,1500\\n").map(r => ({...r, n: Number(r.n)}))',
      "const total = tables.number(rows.reduce((sum, {n}) => sum + n, 0), 1)",
      "const shown = tables.markdown(rows.toSorted((a, b) => b.n - a.n))",
      "tables.csv(rows)",
      'await doc("tables")',
      "await doc(tables)",
      "await doc(tables.csv)",
      "await doc('tables.csv')",
    ], { final: "{{shown}}\n\n{{total}} in all" }),
  ], { extensions: [extension] });
  const { answer } = await engine.ask("Sum it up");
  assert.equal(answer, "| name | n |\n| --- | ---: |\n| a | 1500 |\n| b | 2 |\n\n1,502.0 in all");
  const previews = engine.events.flatMap((event) => event.type === "block_finished" ? [event.result.preview] : []);
  assert.match(previews[3] ?? "", /name,n/);
  for (const text of previews.slice(4)) assert.match(text, /tables\.markdown\(rows/);
  const view = { envId: "", conversationId: "", branchId: "", depth: 0, workspace: "" };
  const [block = ""] = ownPart(extension, await extension.prompt(view)).blocks;
  assert.ok(block.length < 300, String(block.length));
});
