import type { Kysely } from "kysely";
import type { VariableImage } from "../domain/variable.ts";
import { blockCodes } from "./_block_codes.ts";
import { Content } from "./_content.ts";
import { fromJson, toJson } from "./_json.ts";
import { restoreOrder } from "./_restore_order.ts";
import type { Schema } from "./_schema.ts";
import { loadValues, variableImage, type VariableMetadata } from "./_variable_row.ts";
import type { VariableHead, VariableVersion } from "./store.ts";

/** Reads the variables of a branch, and says which are live. */
export class Variables {
  readonly #db: Kysely<Schema>;

  constructor(db: Kysely<Schema>) {
    this.#db = db;
  }

  heads(branchId: string): Promise<readonly VariableHead[]> {
    return this.#read(async (tx) => {
      const rows = await this.#newest(tx, branchId);
      const content = new Content(tx);
      await content.load(rows.map((row) => row.metadata));
      const facts = rows.map((row) => fromJson<VariableMetadata>(content.text(row.metadata ?? "{}")));
      const codes = await blockCodes(tx, facts.flatMap(({ block }) => block ?? []));
      return rows.map((row, at) => {
        // The values are not needed and not read: an image without them has all facts of a head.
        const { name, kind, summary, reason } = variableImage(content, { ...row, result: null });
        const { scope = "live" } = fromJson<Pick<VariableHead, "scope">>(row.soulMetadata);
        const code = codes.get(facts[at]?.block ?? "") ?? "";
        return { name, kind, scope, summary, reason, code, versions: row.version + 1, createdAt: row.createdAt };
      });
    });
  }

  liveImages(branchId: string): Promise<readonly VariableImage[]> {
    return this.#read(async (tx) => {
      const rows = (await this.#newest(tx, branchId)).reverse().filter((row) =>
        (fromJson<Pick<VariableHead, "scope">>(row.soulMetadata).scope ?? "live") === "live"
      );
      const content = new Content(tx);
      await loadValues(content, rows);
      const reads = await this.#reads(tx, branchId);
      const nodes = rows.map((row) => {
        const image = variableImage(content, row);
        return { image, name: image.name, requires: image.requires, reads: reads.get(image.name) ?? [] };
      });
      return restoreOrder(nodes).map(({ image }) => image);
    });
  }

  versions(
    branchId: string,
    { name, newest }: { readonly name: string; readonly newest?: number | undefined },
  ): Promise<readonly VariableVersion[]> {
    return this.#read(async (tx) => {
      const wanted = tx.selectFrom("expressionSoul as s")
        .innerJoin("expressionState as e", "e.expressionSoulId", "s.id")
        .select(["s.name", "e.version", "e.expr", "e.result", "e.metadata", "e.createdAt"])
        .where("s.conversationStateId", "=", branchId).where("s.name", "=", name)
        .orderBy("e.version", "desc");
      const rows = (await (newest === undefined ? wanted : wanted.limit(newest)).execute()).reverse();
      const content = new Content(tx);
      await loadValues(content, rows);
      const blocks = rows.map((row) => fromJson<VariableMetadata>(content.text(row.metadata ?? "{}")).block ?? "");
      const codes = await blockCodes(tx, blocks);
      return rows.map((row, at) => ({
        version: row.version + 1,
        image: variableImage(content, row),
        code: codes.get(blocks[at] ?? "") ?? "",
        createdAt: row.createdAt,
      }));
    });
  }

  /** System variables and unknown names are passed over. */
  setScope(
    branchId: string,
    { names, scope }: { readonly names: readonly string[]; readonly scope: "live" | "forgotten" },
  ): Promise<void> {
    return this.#db.transaction().execute(async (tx) => {
      for (const name of names) {
        const row = await tx.selectFrom("expressionSoul").select(["id", "metadata"])
          .where("conversationStateId", "=", branchId).where("name", "=", name).executeTakeFirst();
        const before = fromJson<Pick<VariableHead, "scope">>(row?.metadata ?? null);
        if (!row || before.scope === "system" || before.scope === scope) continue;
        await tx.updateTable("expressionSoul").set({ metadata: toJson({ ...before, scope }) })
          .where("id", "=", row.id).execute();
      }
    });
  }

  #read<T>(work: (tx: Kysely<Schema>) => Promise<T>): Promise<T> {
    return this.#db.transaction().setAccessMode("read only").execute(work);
  }

  /** The newest version of each variable, newest first. */
  #newest(tx: Kysely<Schema>, branchId: string) {
    return tx.selectFrom("expressionSoul as s")
      .innerJoin("expressionState as e", "e.expressionSoulId", "s.id")
      .select(["s.name", "s.metadata as soulMetadata"])
      .select(["e.version", "e.expr", "e.result", "e.metadata", "e.createdAt"])
      .where("s.conversationStateId", "=", branchId).where("s.kind", "=", "var")
      .where((on) =>
        on(
          "e.version",
          "=",
          on.selectFrom("expressionState as n").select((n) => n.fn.max("n.version").as("newest"))
            .whereRef("n.expressionSoulId", "=", "s.id"),
        )
      )
      .orderBy("e.createdAt", "desc").orderBy("e.id", "desc").execute();
  }

  /** Names that the blocks which made a variable have read, by its name. */
  async #reads(tx: Kysely<Schema>, branchId: string): Promise<ReadonlyMap<string, readonly string[]>> {
    const edges = await tx.selectFrom("expressionDependency as d")
      .innerJoin("expressionSoul as down", "down.id", "d.downstreamExpressionSoulId")
      .innerJoin("expressionSoul as up", "up.id", "d.upstreamExpressionSoulId")
      .select(["down.name as name", "up.name as read"])
      .where("d.conversationStateId", "=", branchId).execute();
    const reads = new Map<string, string[]>();
    for (const { name, read } of edges) {
      if (name === null || read === null) continue;
      const list = reads.get(name);
      if (list) list.push(read);
      else reads.set(name, [read]);
    }
    return reads;
  }
}
