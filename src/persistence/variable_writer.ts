import { newId } from "../domain/kit/ids.ts";
import { SYSTEM_VARIABLES, type VariableImage } from "../domain/query/variable.ts";
import { readLineage } from "./branches.ts";
import { type Content, releaseClaim } from "./content.ts";
import { type Database, fromJson, insertRow, namedQuery, searchText, toJson } from "./database.ts";
import { lastIteration, newestRun } from "./runs.ts";
import type { IterationEnd, StoredBlock } from "./store.ts";
import type { DatabaseSchema } from "./tables.ts";
import { newestVariables, systemCells, variableCells, type VariableSoulMetadata } from "./variable_rows.ts";

type Cells = Awaited<ReturnType<typeof variableCells>>;

export interface WriterFacts extends BranchMoment {
  readonly iterationId: string;
}

/** Writes the variable versions of one iteration and the edges between variables, in the transaction of `content`. */
export class VariableWriter {
  readonly #content: Content;
  readonly #facts: WriterFacts;
  readonly #souls: VariableSouls;

  constructor(content: Content, facts: WriterFacts) {
    this.#content = content;
    this.#facts = facts;
    this.#souls = new VariableSouls(content.db, facts);
  }

  /** Looks up these names; call it first, with every name that is used. */
  async prepare(names: readonly string[]): Promise<void> {
    await this.#souls.prepare(names);
  }

  /** Stores the versions that a block made; `block` is the id of its row. */
  async versions(saved: StoredBlock["saved"], block: string): Promise<void> {
    for (const [order, image] of saved.entries()) {
      const before = this.#souls.get(image.name)?.result ?? null;
      const cells = await variableCells(this.#content, { image, block, order, before });
      await this.#insert(await this.#souls.own(image.name), cells);
    }
  }

  /** Stores versions that no block made. */
  async given(images: readonly VariableImage[]): Promise<void> {
    await this.prepare(images.map(({ name }) => name));
    for (const [order, image] of images.entries()) {
      const { name, large } = image;
      if (large !== undefined) await releaseClaim(this.#content.db, { name, large });
      const cells = await variableCells(this.#content, { image, block: null, order, before: null });
      await this.#insert(await this.#souls.own(name), {
        ...cells,
        result: large === undefined ? cells.result : this.#content.db.dialect.largeCell(large),
      });
    }
  }

  /** Stores versions whose cells are in another branch. */
  async copied(rows: readonly { readonly name: string; readonly cells: Cells }[]): Promise<void> {
    for (const { name, cells } of rows) await this.#insert(await this.#souls.own(name), cells);
  }

  async systemVersion(name: string, text: string): Promise<void> {
    await this.#insert(await this.#souls.own(name), await systemCells(this.#content, text));
  }

  /** Stores changes of scope, after everything that an iteration stored. System variables and unknown names are
   * skipped. */
  async scopes({ live, forgotten }: NonNullable<IterationEnd["scopes"]>, at: Moment): Promise<void> {
    const facts = { db: this.#content.db, souls: this.#souls, at, now: this.#facts.now };
    await writeScopes(live, { ...facts, scope: "live" });
    await writeScopes(forgotten, { ...facts, scope: "forgotten" });
  }

  /** Stores an edge from each variable that the block defined or changed to each that it was made from: as far as its
   * statements say, else all that the block read. */
  async edges(block: StoredBlock): Promise<void> {
    const readsOf = (name: string): readonly string[] => block.madeFrom?.get(name) ?? block.reads;
    const made = new Map(block.saved.map(({ name, requires }) => [name, [...readsOf(name), ...requires]]));
    for (const name of block.result.defined) if (!made.has(name)) made.set(name, [...readsOf(name)]);
    const pairs = new Map<string, readonly [string, string]>();
    for (const [name, reads] of made) {
      const down = await this.#soulOf(name);
      for (const read of reads) {
        const up = await this.#soulOf(read);
        if (down !== undefined && up !== undefined && up !== down) pairs.set(`${down} ${up}`, [down, up]);
      }
    }
    await this.#insertEdges(pairs);
  }

  /** Both ends of an edge are in its branch: an inherited variable gets a soul there. */
  async #soulOf(name: string): Promise<string | undefined> {
    const soul = this.#souls.get(name);
    return soul && (await this.#souls.own(name)).id;
  }

  async #insertEdges(pairs: Map<string, readonly [string, string]>): Promise<void> {
    if (pairs.size === 0) return;
    const known = await this.#content.db.selectFrom("expressionDependency")
      .select(["downstreamExpressionSoulId as down", "upstreamExpressionSoulId as up"])
      .where("downstreamExpressionSoulId", "in", [...new Set([...pairs.values()].map(([down]) => down))])
      .where("upstreamExpressionSoulId", "in", [...new Set([...pairs.values()].map(([, up]) => up))]).execute();
    for (const { down, up } of known) pairs.delete(`${down} ${up}`);
    const metadata = toJson({ iteration: this.#facts.iterationId });
    for (const [down, up] of pairs.values()) {
      await insertRow(this.#content.db, "expressionDependency", {
        id: newId(),
        conversationStateId: this.#facts.branchId,
        downstreamExpressionSoulId: down,
        upstreamExpressionSoulId: up,
        metadata,
        createdAt: this.#facts.now,
      });
    }
  }

  async #insert(soul: VariableRow, cells: Cells): Promise<void> {
    await insertRow(this.#content.db, "expressionState", {
      id: newId(),
      expressionSoulId: soul.id,
      iterationId: this.#facts.iterationId,
      version: soul.version++,
      success: 1,
      ...cells,
      error: null,
      stdout: null,
      stderr: null,
      durationMs: null,
      createdAt: this.#facts.now,
    });
    soul.result = cells.result;
  }
}

const SYSTEM: ReadonlySet<string> = new Set(SYSTEM_VARIABLES);

interface VariableRow {
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
      .where("o.conversationStateId", "=", branchId).where(db.dialect.isListed("o.name", names)))
    .selectFrom("v").leftJoin("expressionState as e", "e.id", "v.newestId")
    .select(["v.id", "v.name", "v.metadata", "e.version as newest", "e.result"])
);

interface BranchMoment {
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

/** After an iteration of a run, or before its first one (-1). Without a run, before all queries of the branch. */
export interface Moment {
  readonly queryId: string | null;
  readonly position: number;
}

/** Records that variables of a branch left the scope or came back. Names unknown to `souls` and names of system
 * variables are skipped. An inherited variable gets its own soul. */
export async function writeScopes(
  names: readonly string[],
  { db, souls, at, scope, now }: {
    readonly db: Database;
    readonly souls: VariableSouls;
    readonly at: Moment;
    readonly scope: "live" | "forgotten";
    readonly now: number;
  },
): Promise<void> {
  for (const name of names) {
    const known = souls.get(name);
    if (!known || known.metadata.scope === "system") continue;
    const soul = await souls.own(name);
    await insertRow(db, "scopeChange", {
      expressionSoulId: soul.id,
      queryStateId: at.queryId,
      position: at.position,
      scope,
      createdAt: now,
    });
  }
}

/** The newest moment of a branch. */
export async function newestMoment(db: Database, branchId: string): Promise<Moment> {
  const run = await newestRun(db, branchId);
  if (!run) return { queryId: null, position: -1 };
  const last = await lastIteration(db, run.id);
  return { queryId: run.id, position: last?.position ?? -1 };
}
