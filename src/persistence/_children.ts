import { newId } from "../domain/id.ts";
import type { NewChildBranch } from "../domain/new_child_branch.ts";
import type { SubCall } from "../domain/sub_call.ts";
import { NO_USAGE } from "../domain/usage.ts";
import { Content } from "./_content.ts";
import type { Database } from "./_database.ts";
import { checkRun } from "./_fence.ts";
import { fromJson, toJson } from "./_json.ts";
import { VariableWriter } from "./_variable_writer.ts";
import type { Branch } from "./store.ts";

/** Branches of child queries, and plain model calls of blocks. */
export class Children {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  createBranch(child: NewChildBranch): Promise<Omit<Branch, "workspace">> {
    const { branchId: parent, iterationId, depth, title } = child;
    return this.#db.write(async (tx) => {
      await checkRun(tx, { iterationId });
      const content = new Content(tx);
      const [branchId, createdAt] = [newId(), this.#now()];
      const { conversationSoulId: conversationId } = await tx.selectFrom("conversationState")
        .select("conversationSoulId").where("id", "=", parent).executeTakeFirstOrThrow();
      const newest = await tx.selectFrom("conversationState").select((s) => s.fn.max("version").as("version"))
        .where("conversationSoulId", "=", conversationId).executeTakeFirst();
      await tx.insertInto("conversationState").values({
        id: branchId,
        conversationSoulId: conversationId,
        // Not the parent: what has one is a fork, which sees the variables of the other branch.
        parentStateId: null,
        title: await content.putText(title),
        version: (newest?.version ?? 0) + 1,
        metadata: toJson({ child: true }),
        createdAt,
      }).execute();
      await tx.insertInto("childBranch").values({ conversationStateId: branchId, iterationId, depth, createdAt })
        .execute();
      const copied = await this.#newestCells(tx, { branchId: parent, names: child.copies });
      const writer = new VariableWriter(content, { branchId, iterationId, now: createdAt });
      await writer.given(child.images);
      await writer.copied(copied);
      return { conversationId, branchId, title: title.toWellFormed(), createdAt };
    });
  }

  /** Ids of the queries that an iteration started, with their depth, oldest first. */
  async queryIds(iterationId: string): Promise<readonly { readonly queryId: string; readonly depth: number }[]> {
    return await this.#db.selectFrom("childBranch as c")
      .innerJoin("querySoul as q", "q.conversationStateId", "c.conversationStateId")
      .innerJoin("queryState as s", "s.querySoulId", "q.id")
      .select(["s.id as queryId", "c.depth"]).where("c.iterationId", "=", iterationId)
      .orderBy("c.rowid").orderBy("s.version").execute();
  }

  recordCall(call: SubCall): Promise<void> {
    return this.#db.write(async (tx) => {
      await checkRun(tx, call);
      const content = new Content(tx);
      const text = async (one: string | null) => one === null ? null : await content.putText(one);
      await tx.insertInto("subCall").values({
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
      }).execute();
    });
  }

  async calls(iterationId: string): Promise<readonly (SubCall & { readonly createdAt: number })[]> {
    const rows = await this.#db.selectFrom("subCall").selectAll().where("iterationId", "=", iterationId)
      .orderBy("rowid").execute();
    const content = new Content(this.#db);
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
    const rows = await tx.selectFrom("expressionSoul as s")
      .innerJoin("expressionState as e", "e.expressionSoulId", "s.id")
      .select(["s.name", "e.expr", "e.result", "e.metadata"])
      .where("s.conversationStateId", "=", branchId).where("s.name", "in", [...names])
      .orderBy("e.version").execute();
    const newest = new Map(rows.map((row) => [row.name ?? "", row]));
    return [...newest].map(([name, { expr, result, metadata }]) => ({ name, cells: { expr, result, metadata } }));
  }
}
