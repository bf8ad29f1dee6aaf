import type { DatabaseSync } from "node:sqlite";
import { headerDamage } from "./file_header.ts";
import { schemaProblems } from "../schema/schema_problems.ts";
import type { FoundSchema } from "./migrate.ts";
import { damaged } from "./store_error.ts";
import { logDamage } from "./wal_file.ts";

/** Throws `StoreError` for a Vis database whose first bytes are wrong or whose log has a gap, before SQLite reads them.
 * This process must not have a connection to it yet: closing a file releases its locks. */
export async function refuseDamagedFile(path: string): Promise<void> {
  const what = await headerDamage(path) ?? await logDamage(path);
  if (what !== null) throw damaged(path, { what });
}

/** Throws `StoreError` if a table, index, view or trigger differs from the schema of the database's version. */
export function refuseOtherSchema(
  db: DatabaseSync,
  { schema, path }: { readonly schema: FoundSchema; readonly path: string },
): void {
  const [what] = schemaProblems(db, schema);
  if (what !== undefined) throw damaged(path, { what });
}
