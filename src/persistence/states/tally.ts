import { sql } from "kysely";
import { Damage } from "../schema/damage.ts";
import type { Database } from "../database/database.ts";
import { isIntact } from "../schema/intact.ts";

interface Place {
  readonly namespace: string;
  /** Null means global. */
  readonly branchId: string | null;
}

interface Tally {
  readonly states: number;
  readonly sum: number;
}

const NONE: Tally = { states: 0, sum: 0 };
const MAX_KNOWN = 1000;
/** The indexes through which states are read. */
const GLOBAL = "uq_extension_state_global", BRANCH = "uq_extension_state_branch";
/** Whether the key `i` of an index is that of the row `r`. */
const KEYS = sql`(i.namespace, i.conversation_state_id, i.key, i.version) IS
  (r.namespace, r.conversation_state_id, r.key, r.version)`;

/** Checks that all states of an extension in a branch exist. They are counted once, and again after others have
 * written. */
export class StateTally {
  readonly #known = new Map<string, Tally>();

  /** Throws `Damage` if a row is missing, or the run that it refers to, or if an index leads to another row. */
  async verify(db: Database, place: Place): Promise<void> {
    if (!db.verifies) return;
    const expected = await tallyOf(db, place);
    if (isSame(this.#known.get(nameOf(place)), expected)) return;
    const { namespace, branchId } = place;
    const { rows: [found] } = await sql<Tally & { readonly loose: number }>`
      SELECT coalesce(sum(${KEYS}), 0) AS states, coalesce(sum(r.checksum), 0) AS sum,
        coalesce(sum(r.query_state_id IS NOT NULL AND q.id IS NULL), 0) AS loose,
        sum(${isIntact("extensionState", "r")}), sum(${isIntact("queryState", "s")}), sum(${isIntact("querySoul", "q")})
      FROM extension_state i INDEXED BY ${sql.raw(branchId === null ? GLOBAL : BRANCH)}
      JOIN extension_state r ON r.rowid = i.rowid
      LEFT JOIN query_state s ON s.id = r.query_state_id LEFT JOIN query_soul q ON q.id = s.query_soul_id
      WHERE i.namespace = ${namespace} AND ${inBranch(branchId)}`.execute(db);
    if (!isSame(found, expected) || found?.loose !== 0) throw new Damage(`states of ${namespace} are missing`);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(nameOf(place), expected);
  }

  /** Call it after `verify`, in the same transaction, when a row was inserted. */
  inserted(place: Place, checksum: number): void {
    const { states, sum } = this.#known.get(nameOf(place)) ?? NONE;
    this.#known.set(nameOf(place), { states: states + 1, sum: sum + checksum });
  }

  /** Throws `Damage` if states of an extension are missing in any branch. */
  async verifyAll(db: Database, namespace: string): Promise<void> {
    if (!db.verifies) return;
    const { rows: [found] } = await sql<Tally>`
      SELECT count(*) AS states, coalesce(sum(i.checksum), 0) AS sum, sum(${isIntact("extensionState", "i")})
      FROM extension_state i WHERE i.namespace = ${namespace}`.execute(db);
    const { rows: [expected] } = await sql<Tally>`
      SELECT coalesce(sum(states), 0) AS states, coalesce(sum(sum), 0) AS sum FROM extension_tally
      WHERE namespace = ${namespace}`.execute(db);
    if (!isSame(found, expected ?? NONE)) throw new Damage(`states of ${namespace} are missing`);
  }
}

async function tallyOf(db: Database, { namespace, branchId }: Place): Promise<Tally> {
  const row = await db.selectFrom("extensionTally").select(["states", "sum"])
    .where("namespace", "=", namespace).where("branch", "=", branchId ?? "").executeTakeFirst();
  return row ?? NONE;
}

function inBranch(branchId: string | null) {
  return branchId === null ? sql`i.conversation_state_id IS NULL` : sql`i.conversation_state_id = ${branchId}`;
}

function isSame(one: Tally | undefined, other: Tally): boolean {
  return one?.states === other.states && one.sum === other.sum;
}

function nameOf({ namespace, branchId }: Place): string {
  return `${branchId ?? ""} ${namespace}`;
}
