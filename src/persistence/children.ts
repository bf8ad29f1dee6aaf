import { newId } from "../domain/kit/ids.ts";
import { NO_USAGE, type SubCall } from "../domain/query/model_call.ts";
import type { StoredQuery } from "../domain/query/stored_query.ts";
import type { NewChildBranch } from "../domain/records/conversations.ts";
import { readLineage } from "./branches.ts";
import { Content } from "./content.ts";
import { type Database, fromJson, insertRow, toJson } from "./database.ts";
import { checkRun } from "./runs.ts";
import type { Branch } from "./store.ts";
import { newestVariables, VariableWriter } from "./variables.ts";

export class Children {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  createBranch(child: NewChildBranch): Promise<Omit<Branch, "workspace" | "tenant">> {
    const { branchId: parent, iterationId, depth, title } = child;
    return this.#db.write(async (tx) => {
      await checkRun(tx, { iterationId });
      const content = new Content(tx);
      const [branchId, createdAt] = [newId(), this.#now()];
      const { conversationSoulId: conversationId } = await tx.selectFrom("conversationState")
        .select("conversationSoulId").where("id", "=", parent).executeTakeFirstOrThrow();
      const newest = await tx.selectFrom("conversationState").select((s) => s.fn.max("version").as("version"))
        .where("conversationSoulId", "=", conversationId).executeTakeFirst();
      await insertRow(tx, "conversationState", {
        id: branchId,
        conversationSoulId: conversationId,
        // A branch with a parent is a fork, which sees the variables of its parent; the branch of a sub-query must not
        // see them.
        parentStateId: null,
        title: await content.putText(title),
        version: (newest?.version ?? 0) + 1,
        metadata: toJson({ child: true }),
        createdAt,
        queries: 0,
      });
      await insertRow(tx, "childBranch", { conversationStateId: branchId, iterationId, depth, createdAt });
      const copied = await this.#newestCells(tx, { branchId: parent, names: child.copies });
      const writer = new VariableWriter(content, { branchId, iterationId, now: createdAt });
      await writer.given(child.images);
      await writer.copied(copied);
      return { conversationId, branchId, title: title.toWellFormed(), createdAt };
    });
  }

  /** The oldest query comes first. */
  async queries(
    iterationId: string,
    byId: (queryId: string) => Promise<StoredQuery | null>,
  ): Promise<readonly (StoredQuery & { readonly depth: number })[]> {
    const found = await this.#queryIds(iterationId);
    const queries = await Promise.all(found.map(({ queryId }) => byId(queryId)));
    return queries.flatMap((query, at) => query ? [{ ...query, depth: found[at]?.depth ?? 1 }] : []);
  }

  async #queryIds(iterationId: string): Promise<readonly { readonly queryId: string; readonly depth: number }[]> {
    return await this.#db.selectFrom("childBranch as c")
      .innerJoin("querySoul as q", "q.conversationStateId", "c.conversationStateId")
      .innerJoin("queryState as s", "s.querySoulId", "q.id").select(["s.id as queryId", "c.depth"])
      .where("c.iterationId", "=", iterationId).orderBy("c.rowid").orderBy("s.rowid").execute();
  }

  recordCall(call: SubCall): Promise<void> {
    return this.#db.write(async (tx) => {
      await checkRun(tx, call);
      const content = new Content(tx);
      const text = async (one: string | null) => one === null ? null : await content.putText(one);
      await insertRow(tx, "subCall", {
        id: newId(),
        iterationId: call.iterationId,
        llmProvider: call.provider,
        llmModel: call.model,
        prompt: await content.putText(call.prompt),
        reply: await text(call.reply),
        error: await text(call.error),
        usage: toJson({ ...call.usage }),
        costUsd: call.costUsd,
        durationMs: Math.max(0, Math.round(call.ms)),
        createdAt: this.#now(),
      });
    });
  }

  async calls(iterationId: string): Promise<readonly (SubCall & { readonly createdAt: number })[]> {
    return await this.#db.read((tx) => this.#readCalls(tx, iterationId));
  }

  async #readCalls(tx: Database, iterationId: string): ReturnType<Children["calls"]> {
    const rows = await tx.selectFrom("subCall as c").selectAll("c").where("c.iterationId", "=", iterationId)
      .orderBy("c.rowid").execute();
    const content = new Content(tx);
    await content.load(rows.flatMap((row) => [row.prompt, row.reply, row.error]));
    return rows.map((row) => ({
      iterationId: row.iterationId,
      provider: row.llmProvider,
      model: row.llmModel,
      prompt: content.text(row.prompt),
      reply: row.reply === null ? null : content.text(row.reply),
      error: row.error === null ? null : content.text(row.error),
      usage: { ...NO_USAGE, ...fromJson<SubCall["usage"]>(row.usage) },
      costUsd: row.costUsd,
      ms: row.durationMs,
      createdAt: row.createdAt,
    }));
  }

  async #newestCells(
    tx: Database,
    { branchId, names }: { readonly branchId: string; readonly names: readonly string[] },
  ) {
    if (names.length === 0) return [];
    const rows = await newestVariables(tx, { lineage: await readLineage(tx, branchId), names });
    return rows.map(({ name, expr, result, metadata }) => ({ name: name ?? "", cells: { expr, result, metadata } }));
  }
}
