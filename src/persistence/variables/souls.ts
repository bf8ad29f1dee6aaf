import { searchText } from "../database/search_text.ts";
import { sql, type SqlBool } from "kysely";
import { newId } from "../../domain/kit/id.ts";
import { SYSTEM_VARIABLES } from "../../domain/query/variable.ts";
import { namedQuery } from "../database/named_query.ts";
import type { Database } from "../database/database.ts";
import { insertRow } from "../database/insert_row.ts";
import { fromJson, toJson } from "../database/json.ts";
import { readLineage } from "../branches/lineage.ts";
import type { DatabaseSchema } from "../schema/schema.ts";
import { digestTerm } from "../branches/shown_digest.ts";
import { type NewestRow, newestVariables, type VariableSoulMetadata } from "../branches/shown_variables.ts";

const SYSTEM: ReadonlySet<string> = new Set(SYSTEM_VARIABLES);

type Shown = Pick<NewestRow, "checksum" | "scope">;

export interface VariableRow {
  readonly id: string;
  readonly metadata: VariableSoulMetadata;
  /** The version of the next row. */
  version: number;
  /** The result of the newest row, which may be an ancestor's. */
  result: DatabaseSchema["expressionState"]["result"];
  /** The newest version that the branch shows, which may be an ancestor's; null if it shows none. */
  shown: Shown | null;
  /** False while the soul is an ancestor's that this branch has not changed. */
  readonly own: boolean;
}

/** The variables of a branch with these names, a JSON array, and the newest row of each: whether it is shown, and
 * whether the scope was ever changed. */
const ownVariables = namedQuery((db, { branchId, names }: { readonly branchId: string; readonly names: string }) =>
  // In a condition, PostgreSQL would use no index for the subquery, because policies come before it.
  db.with((table) => table("v").materialized(), (named) =>
    named.selectFrom("expressionSoul as o").select(["o.id", "o.name", "o.metadata", "o.conversationStateId"])
      .select((one) =>
        one.selectFrom("expressionState as n").select("n.id").whereRef("n.expressionSoulId", "=", "o.id")
          .orderBy("n.version", "desc").limit(1).as("newestId")
      )
      .where("o.conversationStateId", "=", branchId).where(db.isListed("o.name", names)))
    .selectFrom("v").leftJoin("expressionState as e", "e.id", "v.newestId")
    .leftJoin("iteration as i", "i.id", "e.iterationId").leftJoin("queryState as s", "s.id", "i.queryStateId")
    .leftJoin("querySoul as q", "q.id", "s.querySoulId")
    .select(["v.id", "v.name", "v.metadata", "e.version as newest", "e.result", "e.checksum"])
    .select([
      sql<SqlBool>`s.version = q.runs - 1 OR q.conversation_state_id <> v.conversation_state_id`.as("isShown"),
      sql<SqlBool>`EXISTS (SELECT 1 FROM scope_change k WHERE k.expression_soul_id = v.id)`.as("isScoped"),
    ])
);

export interface BranchMoment {
  readonly branchId: string;
  /** The branch that this one was forked from. Undefined if that is not known. */
  readonly parentId?: string | null | undefined;
  readonly now: number;
}

/** The variables of a branch by name, as they are found and created while its rows are written, in one transaction. */
export class VariableSouls {
  readonly #db: Database;
  readonly #at: BranchMoment;
  readonly #souls = new Map<string, VariableRow>();
  #change = 0;

  constructor(db: Database, at: BranchMoment) {
    this.#db = db;
    this.#at = at;
  }

  /** The change of the branch's digest. */
  get change(): number {
    return this.#change;
  }

  /** Looks up these names. */
  async prepare(names: readonly string[]): Promise<void> {
    const wanted = [...new Set(names)].filter((name) => !this.#souls.has(name));
    if (wanted.length === 0) return;
    const unsure = new Set(wanted);
    const own = await ownVariables(this.#db, {
      branchId: this.#at.branchId,
      names: JSON.stringify(wanted.map(searchText)),
    });
    for (const { id, name, metadata, newest, result, checksum, isShown, isScoped } of own) {
      if (name === null) continue;
      const facts: VariableSoulMetadata = fromJson<VariableSoulMetadata>(metadata);
      const sure = checksum !== null && isShown === 1 && isScoped === 0;
      const shown = sure ? { checksum, scope: facts.scope ?? "live" } as const : null;
      if (sure) unsure.delete(name);
      this.#souls.set(name, { id, metadata: facts, version: (newest ?? -1) + 1, result, shown, own: true });
    }
    if (unsure.size > 0) await this.#lookBack([...unsure]);
  }

  get(name: string): VariableRow | undefined {
    return this.#souls.get(name);
  }

  /** The branch's own soul of a name; created if missing. */
  async own(name: string): Promise<VariableRow> {
    const known = this.#souls.get(name);
    if (known?.own) return known;
    const soul = await this.#made(name, known);
    this.#souls.set(name, soul);
    return soul;
  }

  /** Sets what the branch shows of a variable from now on. */
  show(soul: VariableRow, shown: Shown | null): void {
    this.#change += (shown ? digestTerm(shown) : 0) - (soul.shown ? digestTerm(soul.shown) : 0);
    soul.shown = shown;
  }

  async #made(name: string, known: VariableRow | undefined): Promise<VariableRow> {
    const metadata: VariableSoulMetadata = { ...known?.metadata, ...(SYSTEM.has(name) ? { scope: "system" } : {}) };
    const id = newId();
    await insertRow(this.#db, "expressionSoul", {
      id,
      conversationStateId: this.#at.branchId,
      kind: "var",
      stateMode: "stateful",
      name,
      metadata: toJson({ ...metadata }),
      createdAt: this.#at.now,
    });
    return { id, metadata, version: 0, result: known?.result ?? null, shown: known?.shown ?? null, own: true };
  }

  /** Finds what the branch shows of variables that ancestors have, whose scope was changed, or that belonged to a
   * replaced run. */
  async #lookBack(names: readonly string[]): Promise<void> {
    const { branchId, parentId } = this.#at;
    const lineage = parentId === null ? [{ branchId, until: null }] : await readLineage(this.#db, branchId);
    if (lineage.length === 1 && !names.some((name) => this.#souls.has(name))) return;
    for (const { name, soulId, number, result, ...shown } of await newestVariables(this.#db, { lineage, names })) {
      if (name === null) continue;
      const own = this.#souls.get(name);
      const metadata = { inheritedFrom: soulId, before: number };
      if (own) own.shown = shown;
      else this.#souls.set(name, { id: "", metadata, version: 0, result, shown, own: false });
    }
  }
}
