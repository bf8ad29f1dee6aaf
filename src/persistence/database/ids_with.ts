import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.ts";
import { isSeen } from "./is_seen.ts";
import { snakeCase } from "../schema/snake_case.ts";

type Table = "conversationSoul" | "conversationState" | "queryState";

const OF_BRANCH = "FROM conversation_soul c JOIN conversation_state b ON b.conversation_soul_id = c.id";
/** The tenant of a row `t`. */
const TENANTS: Readonly<Record<Table, string>> = {
  conversationSoul: "t.tenant",
  conversationState: "(SELECT c.tenant FROM conversation_soul c WHERE c.id = t.conversation_soul_id)",
  queryState: `(SELECT c.tenant ${OF_BRANCH} JOIN query_soul q ON q.conversation_state_id = b.id
    WHERE q.id = t.query_soul_id)`,
};

/** At most two ids with this prefix. */
export async function idsWith(
  db: Database,
  { table, prefix, where = sql<boolean>`true` }: {
    readonly table: Table;
    readonly prefix: string;
    /** A condition on `t`. */
    readonly where?: RawBuilder<boolean>;
  },
): Promise<readonly string[]> {
  // Ids are hexadecimal digits and dashes, all of which sort before "~".
  const { rows } = await sql<{ id: string }>`SELECT t.id FROM ${sql.raw(`${snakeCase(table)} t`)}
    WHERE t.id >= ${prefix} AND t.id < ${`${prefix}~`} AND ${where} AND ${isSeen(db, TENANTS[table])} LIMIT 2`
    .execute(db);
  return rows.map(({ id }) => id);
}
