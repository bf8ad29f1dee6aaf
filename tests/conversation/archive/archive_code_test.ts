import assert from "node:assert/strict";
import { archiveCode } from "../../../src/conversation/export/read_archive.ts";
import { UsageError } from "../../../src/domain/errors.ts";
import type { ConversationArchive } from "../../../src/persistence/archive_schema.ts";
import { archiveOf } from "../../helpers/archive_of.ts";
import { startEngine } from "../../helpers/engine.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";

const BLOCKS = [
  "const rows = [1]; function twice(n: number) { return 2 * n }; const late = async () => 1",
  "class Shape { static made = 0 }\nenum E { A }",
  "const twice = () => 2; const rows = () => rows",
];

async function exported(): Promise<ConversationArchive> {
  await using engine = await startEngine(
    [...BLOCKS, "1"].map((code, at) => replyJson(code, at === BLOCKS.length ? { final: "made" } : {})),
  );
  await engine.ask("make them");
  return await archiveOf(engine.store, engine.branch.conversationId);
}

Deno.test("archiveCode() names the functions and classes of every version", async () => {
  const { tables } = await exported();
  assert.deepEqual(archiveCode(tables), { functions: ["late", "rows", "twice"], classes: ["Shape"] });
});

Deno.test("archiveCode() refuses code that is no function or class, by name and with a remedy", async () => {
  const evil = "(Array.prototype.map = function () { return [] }, (n) => 2 * n)";
  const { tables } = await exported();
  const code = tables.expressionState.filter(({ expr, metadata }) => "kind" in metadata && expr !== null);
  assert.ok(code.length >= 4);
  for (const changed of code) {
    for (const change of [{ expr: evil }, { expr: null, metadata: { ...changed.metadata, source: evil } }]) {
      const expressionState = tables.expressionState.map((row) => row === changed ? { ...row, ...change } : row);
      const { name } = tables.expressionSoul.find(({ id }) => id === changed.expressionSoulId)!;
      assert.throws(() => archiveCode({ ...tables, expressionState } as typeof tables), (error: Error) => {
        assert.ok(error instanceof UsageError);
        assert.match(error.message, new RegExp(`Vis would run unsafe code to restore variable ${name} \\(`));
        assert.match(error.message, /not one function or class\)$/);
        return true;
      });
    }
  }
});
