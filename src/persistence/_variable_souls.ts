import type { Kysely } from "kysely";
import { newId } from "../domain/id.ts";
import { compiledRows } from "./_compiled_rows.ts";
import { insertRow } from "./_insert_row.ts";
import { fromJson, toJson } from "./_json.ts";
import { readLineage } from "./_lineage.ts";
import type { Schema } from "./_schema.ts";
import { newestVariables, type VariableSoulMetadata } from "./_shown_variables.ts";

export interface Soul {
  readonly id: string;
  readonly metadata: VariableSoulMetadata;
  readonly scope: VariableSoulMetadata["scope"];
  /** Of the next row. */
  version: number;
  /** Of the newest row, also one of an ancestor. */
  result: Schema["expressionState"]["result"];
  /** False while it is an ancestor's, which this branch has not changed. */
  readonly own: boolean;
}

/** The variables of a branch by name, as they are found and made while its rows are written, in one transaction. */
export class VariableSouls {
  readonly #db: Kysely<Schema>;
  readonly #at: { readonly branchId: string; readonly now: number };
  readonly #souls = new Map<string, Soul>();

  constructor(db: Kysely<Schema>, at: { readonly branchId: string; readonly now: number }) {
    this.#db = db;
    this.#at = at;
  }

  /** Looks up what is known about these names. */
  async prepare(names: readonly string[]): Promise<void> {
    const wanted = [...new Set(names)].filter((name) => !this.#souls.has(name));
    if (wanted.length === 0) return;
    for (const { id, name, metadata, newest, result } of await this.#ownOf(wanted)) {
      const facts = fromJson<VariableSoulMetadata>(metadata);
      const { scope = "live" } = facts;
      const soul = { id, metadata: { ...facts, scope }, scope, version: (newest ?? -1) + 1, result, own: true };
      if (name !== null) this.#souls.set(name, soul);
    }
    const others = wanted.filter((name) => !this.#souls.has(name));
    if (others.length > 0) await this.#inherit(others);
  }

  get(name: string): Soul | undefined {
    return this.#souls.get(name);
  }

  /** The branch's own soul of a name with this scope; made where there is none. */
  async withScope(name: string, scope: VariableSoulMetadata["scope"]): Promise<Soul> {
    const known = this.#souls.get(name);
    if (known?.own && known.scope === scope) return known;
    const soul = known?.own ? await this.#changed(known, scope) : await this.#made(name, { known, scope });
    this.#souls.set(name, soul);
    return soul;
  }

  async #changed(soul: Soul, scope: VariableSoulMetadata["scope"]): Promise<Soul> {
    const metadata = { ...soul.metadata, scope };
    await this.#db.updateTable("expressionSoul").set({ metadata: toJson(metadata) }).where("id", "=", soul.id)
      .execute();
    return { ...soul, metadata, scope };
  }

  async #made(
    name: string,
    { known, scope }: { readonly known: Soul | undefined; readonly scope: VariableSoulMetadata["scope"] },
  ): Promise<Soul> {
    const metadata = { ...known?.metadata, scope };
    const id = newId();
    await insertRow(this.#db, "expressionSoul", {
      id,
      conversationStateId: this.#at.branchId,
      kind: "var",
      stateMode: "stateful",
      name,
      metadata: toJson(metadata),
      createdAt: this.#at.now,
    });
    return { id, metadata, scope, version: 0, result: known?.result ?? null, own: true };
  }

  async #ownOf(names: readonly string[]) {
    const { branchId } = this.#at;
    return await compiledRows(this.#db, {
      name: `souls of ${names.length} names`,
      build: () =>
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
          .where("s.conversationStateId", "=", branchId).where("s.name", "in", names),
      parameters: [1, branchId, ...names],
    });
  }

  async #inherit(names: readonly string[]): Promise<void> {
    const { branchId } = this.#at;
    const lineage = await readLineage(this.#db, branchId);
    if (lineage.length === 1) return;
    for (const { name, soulId, number, scope, result } of await newestVariables(this.#db, { lineage, names })) {
      const metadata = { scope, inheritedFrom: soulId, before: number };
      if (name !== null) this.#souls.set(name, { id: "", metadata, scope, version: 0, result, own: false });
    }
  }
}
