import { Content } from "../content/content.ts";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../sqlite/database.ts";
import { intact } from "../schema/intact.ts";
import { fromJson } from "../sqlite/json.ts";

const AT_ONCE = 500;

/** The texts of blocks by `expression_state.id`. */
export async function blockCodes(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const codes = new Map<string, string>();
  const wanted = [...new Set(ids)].filter((id) => id !== "");
  for (let i = 0; i < wanted.length; i += AT_ONCE) {
    const some = wanted.slice(i, i + AT_ONCE);
    const rows = await db.selectFrom("expressionState as e").select(["e.id", "e.expr", "e.metadata"])
      .where("e.id", "in", some).select(intact("expressionState", "e")).execute();
    if (rows.length < some.length) throw new Damage("a block that made a variable is missing");
    // The column gives the text back exactly unless it is blank or has U+FFFD; see blockCells().
    const odd = rows.filter(({ expr }) => expr === null || expr.includes("\ufffd"));
    const content = new Content(db);
    await content.load(odd.map((row) => row.metadata));
    for (const { id, expr } of rows) codes.set(id, expr ?? "");
    for (const { id, expr, metadata } of odd) {
      codes.set(id, fromJson<{ code: string }>(content.text(metadata ?? "{}")).code ?? expr ?? "");
    }
  }
  return codes;
}
