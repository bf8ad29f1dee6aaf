import { newId } from "../domain/id.ts";
import { SYSTEM_VARIABLES } from "../domain/variable.ts";
import { compiledRows } from "./_compiled_rows.ts";
import type { Database } from "./_database.ts";
import { insertRow } from "./_insert_row.ts";
import { fromJson, toJson } from "./_json.ts";
import { readLineage } from "./_lineage.ts";
import type { Schema } from "./_schema.ts";
import { newestVariables, type VariableSoulMetadata } from "./_shown_variables.ts";

/** Up to so many names the text of the query is kept: one for each number of names. */
const KEPT_TEXTS = 20;
const SYSTEM: ReadonlySet<string> = new Set(SYSTEM_VARIABLES);

export interface Soul {
  readonly id: string;
  readonly metadata: VariableSoulMetadata;
  /** Of the next row. */
  version: number;
  /** Of the newest row, also one of an ancestor. */
  result: Schema["expressionState"]["result"];
  /** False while it is an ancestor's, which this branch has not changed. */
  readonly own: boolean;
}

/** The variables of a branch by name, as they are found and made while its rows are written, in one transaction. */
export class VariableSouls {
  readonly #db: Database;
  readonly #at: { readonly branchId: string; readonly now: number };
  readonly #souls = new Map<string, Soul>();

  constructor(db: Database, at: { readonly branchId: string; readonly now: number }) {
    this.#db = db;
    this.#at = at;
  }

  /** Looks up what is known about these names. */
  async prepare(names: readonly string[]): Promise<void> {
    const wanted = [...new Set(names)].filter((name) => !this.#souls.has(name));
    if (wanted.length === 0) return;
    for (const { id, name, metadata, newest, result } of await this.#ownOf(wanted)) {
      const facts: VariableSoulMetadata = fromJson<VariableSoulMetadata>(metadata);
      const soul = { id, metadata: facts, version: (newest ?? -1) + 1, result, own: true };
      if (name !== null) this.#souls.set(name, soul);
    }
    const others = wanted.filter((name) => !this.#souls.has(name));
    if (others.length > 0) await this.#inherit(others);
  }

  get(name: string): Soul | undefined {
    return this.#souls.get(name);
  }

  /** The branch's own soul of a name; made where there is none. */
  async own(name: string): Promise<Soul> {
    const known = this.#souls.get(name);
    if (known?.own) return known;
    const soul = await this.#made(name, known);
    this.#souls.set(name, soul);
    return soul;
  }

  async #made(name: string, known: Soul | undefined): Promise<Soul> {
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

  async #ownOf(names: readonly string[]) {
    const { branchId } = this.#at;
    const build = () =>
      this.#db.selectFrom("expressionSoul as s")
        .select((s) => [
          "s.id",
          "s.name",
          "s.metadata",
          s.selectFrom("expressionState as e").select((e) => e.fn.max("e.version").as("newest"))
            .whereRef("e.expressionSoulId", "=", "s.id").as("newest"),
          s.selectFrom("expressionState as r").select("r.result")
            .whereRef("r.expressionSoulId", "=", "s.id").orderBy("r.version", "desc").limit(1).as("result"),
        ])
        .where("s.conversationStateId", "=", branchId).where("s.name", "in", names);
    if (names.length > KEPT_TEXTS) return await build().execute();
    const parameters = [1, branchId, ...names];
    return await compiledRows(this.#db, { name: `souls of ${names.length} names`, build, parameters });
  }

  async #inherit(names: readonly string[]): Promise<void> {
    const { branchId } = this.#at;
    const lineage = await readLineage(this.#db, branchId);
    if (lineage.length === 1) return;
    for (const { name, soulId, number, result } of await newestVariables(this.#db, { lineage, names })) {
      const metadata = { inheritedFrom: soulId, before: number };
      if (name !== null) this.#souls.set(name, { id: "", metadata, version: 0, result, own: false });
    }
  }
}
