import { newId } from "../../domain/kit/ids.ts";
import type { VariableImage } from "../../domain/query/variable.ts";
import type { Content } from "../content/content.ts";
import { releaseClaim } from "../content/large_text.ts";
import { insertRow } from "../database/insert_row.ts";
import { toJson } from "../database/json.ts";
import type { IterationEnd, StoredBlock } from "../store/iteration_store.ts";
import { systemCells, variableCells } from "./row.ts";
import { type Moment, writeScopes } from "./scope_changes.ts";
import { type BranchMoment, type VariableRow, VariableSouls } from "./souls.ts";

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
        result: large === undefined ? cells.result : this.#content.largeCell(large),
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
