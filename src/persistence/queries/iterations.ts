import { newId } from "../../domain/kit/ids.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { insertRow } from "../database/insert_row.ts";
import { fromJson, toJson } from "../database/json.ts";
import { namedQuery } from "../database/named_query.ts";
import { updateRow } from "../database/update_row.ts";
import { checkFence, runningRun } from "../runs/fence.ts";
import { addTraces, changeQueryMetadata } from "../runs/query_metadata.ts";
import type { IterationEnd, IterationStore, NewIteration, StoredBlock } from "../store/iteration_store.ts";
import { VariableWriter, type WriterFacts } from "../variables/writer.ts";
import { blockCells } from "./block_row.ts";

type Failed = Parameters<IterationStore["failIteration"]>;

/** `iteration.metadata`, besides what the caller passes. */
interface IterationMetadata {
  /** Source texts of the blocks while they run; removed when the blocks have their own rows. */
  readonly pendingBlocks: readonly string[];
}

/** Writes the rows of `iteration` and everything that depends on them; each method is one transaction. */
export class Iterations {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  begin(iteration: NewIteration): Promise<string> {
    return this.#db.writeRun(async (tx) => {
      const content = new Content(tx);
      const run = await runningRun(tx, iteration.queryId);
      const row = await askedCells(content, iteration);
      const metadata = toJson({ ...iteration.metadata, pendingBlocks: iteration.blocks });
      await insertRow(tx, "iteration", {
        ...row,
        status: "running",
        llmResponse: await content.putText(iteration.response),
        llmError: null,
        llmReturnedEmptyExpressions: 0,
        metadata: await content.putText(metadata),
        createdAt: this.#now(),
        finishedAt: null,
      });
      await give(content, { iteration, branchId: run.branchId, iterationId: row.id, now: this.#now() });
      await count(tx, { ...iteration, totals: iteration.spent, cell: run.metadata });
      return row.id;
    });
  }

  end(iterationId: string, end: IterationEnd): Promise<void> {
    return this.#db.writeRun(async (tx) => {
      const { queryId, metadata: cell } = await endIteration(tx, { iterationId, end, now: this.#now() });
      await changeQueryMetadata(tx, { queryId, cell, change: () => end.totals });
    });
  }

  fail(iteration: Failed[0], end: Failed[1]): Promise<string> {
    return this.#db.writeRun(async (tx) => {
      const content = new Content(tx);
      const { branchId, metadata: cell } = await runningRun(tx, iteration.queryId);
      const row = await askedCells(content, iteration);
      const now = this.#now();
      await insertRow(tx, "iteration", {
        ...row,
        status: "error",
        llmResponse: null,
        llmError: await content.putText(end.error),
        llmReturnedEmptyExpressions: 0,
        metadata: await content.putText(toJson({ ...iteration.metadata, ...end.metadata })),
        createdAt: now,
        finishedAt: now,
      });
      const { queryId, position } = iteration;
      await give(content, { iteration, branchId, iterationId: row.id, now });
      const results = { ...end, blocks: [], branchId, queryId, position, iterationId: row.id, now };
      await writeResults(content, results);
      await count(tx, { ...iteration, totals: end.totals, cell });
      return row.id;
    });
  }
}

/** Ends a running iteration in the transaction `tx` of its run. Returns its run; the caller stores the totals there. */
export async function endIteration(
  tx: Database,
  { iterationId, end, now }: { readonly iterationId: string; readonly end: IterationEnd; readonly now: number },
): Promise<{ readonly queryId: string; readonly branchId: string; readonly metadata: string | null }> {
  const content = new Content(tx);
  const row = await runningIteration(tx, iterationId);
  await content.load([row.metadata]);
  const { pendingBlocks: _done, ...before } = fromJson<IterationMetadata>(content.text(row.metadata ?? "{}"));
  const { branchId, parentId, queryId, position } = row;
  await writeResults(content, { ...end, branchId, parentId, queryId, position, iterationId, now });
  const changes = {
    status: end.status,
    llmError: end.error === null ? null : await content.putText(end.error),
    llmReturnedEmptyExpressions: end.empty ? 1 : 0,
    metadata: await content.putText(toJson({ ...before, ...end.metadata })),
    finishedAt: now,
  };
  await updateRow(tx, "iteration", { id: iterationId, changes });
  return { queryId, branchId, metadata: row.queryMetadata };
}

/** The cells that are known once the model was called. */
async function askedCells(content: Content, iteration: Omit<NewIteration, "response" | "blocks">) {
  return {
    id: newId(),
    queryStateId: iteration.queryId,
    position: iteration.position,
    llmSystemPrompt: await content.putText(iteration.systemPrompt),
    llmUserPrompt: await content.putText(iteration.userPrompt),
    llmProvider: iteration.provider,
    llmModel: iteration.model,
    llmTraces: await content.putText(toJson(iteration.traces)),
    llmFullDurationMs: Math.max(0, Math.round(iteration.modelMs)),
    llmThinking: await content.putText(iteration.thinking),
  };
}

/** Adds an iteration's calls to the totals of its query. */
async function count(
  tx: Database,
  { queryId, traces, totals, cell }: Pick<NewIteration, "queryId" | "traces"> & {
    readonly totals: Partial<IterationEnd["totals"]> | undefined;
    readonly cell: string | null;
  },
): Promise<void> {
  await changeQueryMetadata(tx, {
    queryId,
    cell,
    change: (before) => ({ ...totals, byModel: addTraces(before.byModel ?? {}, traces) }),
  });
}

const iterationById = namedQuery((db, { iterationId }: { readonly iterationId: string }) =>
  db.selectFrom("iteration as i")
    .innerJoin("queryState as s", "s.id", "i.queryStateId").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .innerJoin("conversationState as b", "b.id", "q.conversationStateId")
    .select([
      "i.status",
      "i.metadata",
      "i.position",
      "s.id as queryId",
      "b.id as branchId",
      "b.parentStateId as parentId",
    ])
    .select(["s.metadata as queryMetadata", "s.status as queryStatus"])
    .select([db.holderOf("s.id", false).as("holder"), db.versionOf("s").as("version")])
    .where("i.id", "=", iterationId)
);

async function runningIteration(tx: Database, iterationId: string) {
  const [row] = await iterationById(tx, { iterationId });
  if (row) {
    const { queryId, queryStatus, queryMetadata, holder, version } = row;
    await checkFence(tx, { id: queryId, status: queryStatus, metadata: queryMetadata, holder, version });
  }
  if (row?.status === "running") return row;
  throw new Error(
    `Cannot end iteration ${iterationId}: ${row ? `it has the status ${row.status}` : "it does not exist"}`,
  );
}

/** Stores versions of the query's input. */
async function give(
  content: Content,
  { iteration: { given = [] }, ...facts }: WriterFacts & { readonly iteration: Pick<NewIteration, "given"> },
): Promise<void> {
  if (given.length === 0) return;
  await new VariableWriter(content, facts).given(given);
}

/** Stores blocks, variables, system variables and edges. */
async function writeResults(
  content: Content,
  results:
    & WriterFacts
    & Pick<NewIteration, "queryId" | "position">
    & Pick<IterationEnd, "blocks" | "system" | "scopes">,
): Promise<void> {
  const { blocks, system, branchId, parentId, iterationId, queryId, position, now } = results;
  const { live, forgotten } = results.scopes ?? { live: [], forgotten: [] };
  const facts = { branchId, parentId, iterationId, now };
  const variables = new VariableWriter(content, facts);
  const names = blocks.flatMap(({ saved, reads, result }) => [
    ...saved.flatMap((image) => [image.name, ...image.requires]),
    ...reads,
    ...result.defined,
  ]);
  await variables.prepare([...names, ...system.map(({ name }) => name), ...live, ...forgotten]);
  for (const [index, block] of blocks.entries()) {
    const id = await writeBlock(content, { ...facts, ...block, index });
    await variables.versions(block.saved, id);
    await variables.edges(block);
  }
  for (const { name, text } of system) await variables.systemVersion(name, text);
  await variables.scopes({ live, forgotten }, { queryId, position });
}

async function writeBlock(
  content: Content,
  block: StoredBlock & WriterFacts & { readonly index: number },
): Promise<string> {
  const [soulId, id] = [newId(), newId()];
  await insertRow(content.db, "expressionSoul", {
    id: soulId,
    conversationStateId: block.branchId,
    kind: block.literal ? "literal" : "call",
    stateMode: "stateless",
    name: null,
    metadata: toJson({ index: block.index }),
    createdAt: block.now,
  });
  await insertRow(content.db, "expressionState", {
    id,
    expressionSoulId: soulId,
    iterationId: block.iterationId,
    version: 0,
    ...await blockCells(content, block),
    createdAt: block.now,
  });
  return id;
}
