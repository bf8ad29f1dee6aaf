import { type RawBuilder, sql } from "kysely";
import { Damage } from "../schema/damage.ts";
import type { Database } from "./database.ts";
import { isIntact } from "../schema/intact.ts";
import { isSeen } from "./is_seen.ts";
import { snakeCase } from "../schema/snake_case.ts";

type Table = "conversationSoul" | "conversationState" | "queryState";

const ID_CHARS = 36;
const OF_BRANCH = "FROM conversation_soul c JOIN conversation_state b ON b.conversation_soul_id = c.id";
/** The tenant of a row `t`. */
const TENANTS: Readonly<Record<Table, string>> = {
  conversationSoul: "t.tenant",
  conversationState: "(SELECT c.tenant FROM conversation_soul c WHERE c.id = t.conversation_soul_id)",
  queryState: `(SELECT c.tenant ${OF_BRANCH} JOIN query_soul q ON q.conversation_state_id = b.id
    WHERE q.id = t.query_soul_id)`,
};

/** Throws `Damage` if a row with this id exists although an index did not find it. It reads the whole table. */
export async function verifyAbsent(
  db: Database,
  { table, id }: { readonly table: Table; readonly id: string },
): Promise<void> {
  if (!db.verifies) return;
  const { rows: [row] } = await sql`SELECT 1 FROM ${sql.raw(snakeCase(table))} NOT INDEXED WHERE id = ${id} LIMIT 1`
    .execute(db);
  if (row) throw lost(table, id);
}

/** At most two ids with this prefix. If the index does not find exactly the requested one, the table itself is read
 * too. */
export async function idsWith(
  db: Database,
  { table, prefix, where = sql<boolean>`true` }: {
    readonly table: Table;
    readonly prefix: string;
    /** A condition on `t`. */
    readonly where?: RawBuilder<boolean>;
  },
): Promise<readonly string[]> {
  const read = async (how: string) => {
    // Ids are hexadecimal digits and dashes, all of which sort before "~".
    const { rows } = await sql<{ id: string }>`SELECT t.id, ${isIntact(table, "t")} AS intact
      FROM ${sql.raw(`${snakeCase(table)} t ${how}`)} WHERE t.id >= ${prefix} AND t.id < ${`${prefix}~`} AND ${where}
      AND ${isSeen(db, TENANTS[table])} LIMIT 2`.execute(db);
    return rows.map(({ id }) => id);
  };
  const found = await read("");
  if (!db.verifies || (found.length === 1 && prefix.length === ID_CHARS)) return found;
  const all = await read("NOT INDEXED");
  if (all.length > found.length) throw lost(table, all.find((id) => !found.includes(id)) ?? prefix);
  return found;
}

function lost(table: Table, id: string): Damage {
  return new Damage(`an index has lost row ${id} of ${snakeCase(table)}`);
}
