import { newId } from "../domain/id.ts";
import { SYSTEM_VARIABLES, type VariableImage } from "../domain/variable.ts";
import type { Content } from "./_content.ts";
import { insertRow } from "./_insert_row.ts";
import { fromJson, toJson } from "./_json.ts";
import type { StoredBlock, VariableHead } from "./store.ts";
import { systemCells, variableCells } from "./_variable_row.ts";

type Cells = Awaited<ReturnType<typeof variableCells>>;

/** `expression_soul.metadata` of a variable. */
interface SoulMetadata {
  readonly scope: VariableHead["scope"];
}

interface Soul {
  readonly id: string;
  readonly scope: VariableHead["scope"];
  /** Of the next row. */
  version: number;
  /** Of the newest row. */
  result: Cells["result"];
}

export interface WriterFacts {
  readonly branchId: string;
  readonly iterationId: string;
  readonly now: number;
}

const SYSTEM: readonly string[] = SYSTEM_VARIABLES;

/** Writes the variable versions of one iteration and the edges between variables, in the transaction of `content`. */
export class VariableWriter {
  readonly #content: Content;
  readonly #facts: WriterFacts;
  readonly #souls = new Map<string, Soul>();

  constructor(content: Content, facts: WriterFacts) {
    this.#content = content;
    this.#facts = facts;
  }

  /** Looks up what is known about these names; call it with every name that is used, before the rest. */
  async prepare(names: readonly string[]): Promise<void> {
    const wanted = [...new Set(names)];
    if (wanted.length === 0) return;
    const rows = await this.#content.db.selectFrom("expressionSoul as s")
      .select((s) => [
        "s.id",
        "s.name",
        "s.metadata",
        s.selectFrom("expressionState as e").select((e) => e.fn.max("e.version").as("newest"))
          .whereRef("e.expressionSoulId", "=", "s.id").as("newest"),
        s.selectFrom("expressionState as r").select("r.result")
          .whereRef("r.expressionSoulId", "=", "s.id").orderBy("r.version", "desc").limit(1).as("result"),
      ])
      .where("s.conversationStateId", "=", this.#facts.branchId).where("s.name", "in", wanted).execute();
    for (const { id, name, metadata, newest, result } of rows) {
      const scope = fromJson<SoulMetadata>(metadata).scope ?? "live";
      if (name !== null) this.#souls.set(name, { id, scope, version: (newest ?? -1) + 1, result });
    }
  }

  /** The versions that a block made; `block` is the id of its row. */
  async versions(saved: StoredBlock["saved"], block: string): Promise<void> {
    for (const [order, image] of saved.entries()) {
      const before = this.#souls.get(image.name)?.result ?? null;
      const cells = await variableCells(this.#content, { image, block, order, before });
      await this.#insert(await this.#live(image.name), cells);
    }
  }

  /** Versions that no block made. */
  async given(images: readonly VariableImage[]): Promise<void> {
    await this.prepare(images.map(({ name }) => name));
    for (const [order, image] of images.entries()) {
      const cells = await variableCells(this.#content, { image, block: null, order, before: null });
      await this.#insert(await this.#live(image.name), { ...cells, result: image.large ?? cells.result });
    }
  }

  /** Versions whose cells stand in another branch. */
  async copied(rows: readonly { readonly name: string; readonly cells: Cells }[]): Promise<void> {
    for (const { name, cells } of rows) await this.#insert(await this.#live(name), cells);
  }

  async systemVersion(name: string, text: string): Promise<void> {
    await this.#insert(await this.#live(name), await systemCells(this.#content, text));
  }

  /** An edge from each variable that the block defined or changed to each that it read. */
  async edges(block: StoredBlock): Promise<void> {
    const made = new Map(block.saved.map((image) => [image.name, [...block.reads, ...image.requires]]));
    for (const name of block.result.defined) if (!made.has(name)) made.set(name, [...block.reads]);
    const pairs = new Map<string, readonly [string, string]>();
    for (const [name, reads] of made) {
      const down = this.#souls.get(name)?.id;
      for (const read of reads) {
        const up = this.#souls.get(read)?.id;
        if (down !== undefined && up !== undefined && up !== down) pairs.set(`${down} ${up}`, [down, up]);
      }
    }
    await this.#insertEdges(pairs);
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

  /** The soul of a name; made where there is none, and live again where it was forgotten. */
  async #live(name: string): Promise<Soul> {
    const scope = SYSTEM.includes(name) ? "system" : "live";
    const known = this.#souls.get(name);
    if (known?.scope === scope) return known;
    const { version = 0, result = null } = known ?? {};
    const soul: Soul = { id: known?.id ?? newId(), scope, version, result };
    const metadata = toJson({ scope });
    if (known) {
      await this.#content.db.updateTable("expressionSoul").set({ metadata }).where("id", "=", soul.id).execute();
    } else {
      await insertRow(this.#content.db, "expressionSoul", {
        id: soul.id,
        conversationStateId: this.#facts.branchId,
        kind: "var",
        stateMode: "stateful",
        name,
        metadata,
        createdAt: this.#facts.now,
      });
    }
    this.#souls.set(name, soul);
    return soul;
  }

  async #insert(soul: Soul, cells: Cells): Promise<void> {
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
