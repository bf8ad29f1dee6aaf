import { newId } from "../../domain/kit/ids.ts";
import { SYSTEM_VARIABLES } from "../../domain/query/variable.ts";
import { readLineage } from "../branches/lineage.ts";
import { newestVariables, type VariableSoulMetadata } from "../branches/shown_variables.ts";
import type { Database } from "../database/database.ts";
import { insertRow } from "../database/insert_row.ts";
import { fromJson, toJson } from "../database/json.ts";
import { namedQuery } from "../database/named_query.ts";
import { searchText } from "../database/search_text.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

const SYSTEM: ReadonlySet<string> = new Set(SYSTEM_VARIABLES);

export interface VariableRow {
  readonly id: string;
  readonly metadata: VariableSoulMetadata;
  /** The version of the next row. */
  version: number;
  /** The result of the newest row, which may be an ancestor's. */
  result: DatabaseSchema["expressionState"]["result"];
  /** False while the soul is an ancestor's that this branch has not changed. */
  readonly own: boolean;
}

/** The variables of a branch with these names, a JSON array, and the newest row of each. */
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
    .select(["v.id", "v.name", "v.metadata", "e.version as newest", "e.result"])
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

  constructor(db: Database, at: BranchMoment) {
    this.#db = db;
    this.#at = at;
  }

  /** Looks up these names. */
  async prepare(names: readonly string[]): Promise<void> {
    const wanted = [...new Set(names)].filter((name) => !this.#souls.has(name));
    if (wanted.length === 0) return;
    const own = await ownVariables(this.#db, {
      branchId: this.#at.branchId,
      names: JSON.stringify(wanted.map(searchText)),
    });
    for (const { id, name, metadata, newest, result } of own) {
      if (name === null) continue;
      const facts: VariableSoulMetadata = fromJson<VariableSoulMetadata>(metadata);
      this.#souls.set(name, { id, metadata: facts, version: (newest ?? -1) + 1, result, own: true });
    }
    const others = wanted.filter((name) => !this.#souls.has(name));
    if (others.length > 0) await this.#lookBack(others);
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
    return { id, metadata, version: 0, result: known?.result ?? null, own: true };
  }

  /** Finds what the branch shows of variables that only ancestors have. */
  async #lookBack(names: readonly string[]): Promise<void> {
    const { branchId, parentId } = this.#at;
    const lineage = parentId === null ? [{ branchId, until: null }] : await readLineage(this.#db, branchId);
    if (lineage.length === 1) return;
    for (const { name, soulId, number, result } of await newestVariables(this.#db, { lineage, names })) {
      if (name === null) continue;
      const metadata = { inheritedFrom: soulId, before: number };
      this.#souls.set(name, { id: "", metadata, version: 0, result, own: false });
    }
  }
}
