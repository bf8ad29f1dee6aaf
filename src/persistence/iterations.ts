import { newId } from "../domain/kit/ids.ts";
import { type BlockDiff, blockResult, type LateCall } from "../domain/query/host_call.ts";
import type { SentMessage } from "../domain/query/model_call.ts";
import type { BlockError, BlockResult } from "../domain/query/query_schemas.ts";
import {
  type IterationRange,
  steeredInto,
  type SteeredMessage,
  type StoredApproval,
} from "../domain/query/stored_query.ts";
import type { VariableImage } from "../domain/query/variable.ts";
import { compareValue, Content, type ValueCheck } from "./long_values.ts";
import { type Database, fromJson, insertRow, namedQuery, searchText, toJson, updateRow } from "./database.ts";
import { addTraces, changeQueryMetadata, checkFence, type QueryMetadata, runningRun } from "./runs.ts";
import type { IterationEnd, IterationStore, NewIteration, QueryStore, StoredBlock, StoredIteration } from "./store.ts";
import type { DatabaseSchema } from "./tables.ts";
import { loadValues, variableImage, type VariableMetadata, VariableWriter, type WriterFacts } from "./variables.ts";

type Failed = Parameters<IterationStore["failIteration"]>;

interface IterationMetadata {
  readonly pendingBlocks: readonly string[];
}

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

  setDiffs(iterationId: string, diffs: readonly BlockDiff[]): Promise<void> {
    return this.#db.writeRun(async (tx) => {
      const content = new Content(tx);
      const row = await runningIteration(tx, iterationId);
      await content.load([row.metadata]);
      const metadata = toJson({ ...fromJson<object>(content.text(row.metadata ?? "{}")), diffs });
      await updateRow(tx, "iteration", { id: iterationId, changes: { metadata: await content.putText(metadata) } });
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

/** The caller must store the totals in the returned run. */
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
  for (const [iteration, late] of Map.groupBy(end.late ?? [], ({ iteration }) => iteration)) {
    await addLate(tx, { queryId, position: iteration - 1, late });
  }
  return { queryId, branchId, metadata: row.queryMetadata };
}

async function addLate(
  tx: Database,
  { queryId, position, late }: Pick<NewIteration, "queryId" | "position"> & { readonly late: readonly LateCall[] },
): Promise<void> {
  const content = new Content(tx);
  const row = await tx.selectFrom("iteration as i").select(["i.id", "i.metadata"])
    .where("i.queryStateId", "=", queryId).where("i.position", "=", position).executeTakeFirst();
  if (!row) return;
  const blocks = await tx.selectFrom("expressionState as e")
    .innerJoin("expressionSoul as s", "s.id", "e.expressionSoulId").select(["e.id", "e.metadata"])
    .where("e.iterationId", "=", row.id).where("s.kind", "!=", "var").execute();
  await content.load([row.metadata, ...blocks.map(({ metadata }) => metadata)]);
  for (const { id, metadata: cell } of blocks) {
    const metadata = fromJson<BlockMetadata>(content.text(cell ?? "{}"));
    const calls = late.filter(({ block }) => block === metadata.index).map(({ call }) => call);
    if (calls.length === 0) continue;
    const text = toJson({ ...metadata, calls: [...metadata.calls ?? [], ...calls].slice(0, MAX_CALLS) });
    await updateRow(tx, "expressionState", { id, changes: { metadata: await content.putText(text) } });
  }
  const diffs = late.flatMap(({ block, diffs }) => diffs.map((diff) => ({ block, diff })));
  if (diffs.length === 0) return;
  const before = fromJson<{ readonly diffs?: readonly BlockDiff[] }>(content.text(row.metadata ?? "{}"));
  const metadata = toJson({ ...before, diffs: [...before.diffs ?? [], ...diffs] });
  await updateRow(tx, "iteration", { id: row.id, changes: { metadata: await content.putText(metadata) } });
}

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
    .select([db.dialect.holderOf("s.id", false).as("holder"), db.dialect.versionOf("s").as("version")])
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
    `Cannot change step ${iterationId}: ${row ? `it has the status ${row.status}` : "it does not exist"}`,
  );
}

async function give(
  content: Content,
  { iteration: { given = [] }, ...facts }: WriterFacts & { readonly iteration: Pick<NewIteration, "given"> },
): Promise<void> {
  if (given.length === 0) return;
  await new VariableWriter(content, facts).given(given);
}

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

const MAX_VALUE_BYTES = 1024 * 1024;
const MAX_CALLS = 1000;

type BlockMetadata =
  & Omit<BlockResult, "stdout" | "stderr" | "error" | "ms" | "defined">
  & { readonly index: number; readonly reads: readonly string[]; readonly defines: readonly string[] }
  & Partial<ExactTexts>
  & ValueCheck
  & { readonly ms?: number };

/** The metadata keeps a text that its column cannot return exactly, such as code with a NUL. */
interface ExactTexts {
  readonly code: string;
  readonly stdout: string;
  readonly stderr: string;
}

type ExpressionState = DatabaseSchema["expressionState"];
type Cells = Omit<
  ExpressionState,
  "rowid" | "id" | "expressionSoulId" | "iterationId" | "version" | "createdAt"
>;

async function blockCells(content: Content, block: StoredBlock & { readonly index: number }): Promise<Cells> {
  const { code, result, reads, value, index } = block;
  const { stdout, stderr, error, ms, defined, ...rest } = result;
  const expr = code.trim() === "" ? null : searchText(code);
  const exact: Partial<BlockMetadata> = {
    ...(expr === code ? {} : { code }),
    ...(stdout.isWellFormed() ? {} : { stdout }),
    ...(stderr.isWellFormed() ? {} : { stderr }),
    ...(Number.isInteger(ms) && ms >= 0 ? {} : { ms }),
  };
  const kept = value === null || value.length > MAX_VALUE_BYTES ? null : value;
  const metadata = { index, ...rest, reads, defines: defined, ...exact, ...(kept ? content.checkOf(kept) : {}) };
  return {
    success: error === null ? 1 : 0,
    expr,
    result: kept && await content.putBytes(kept),
    error: error === null ? null : await content.putBytes(new TextEncoder().encode(toJson({ ...error }))),
    stdout: await content.putText(stdout),
    stderr: await content.putText(stderr),
    durationMs: Math.max(0, Math.round(ms)),
    metadata: await content.putText(toJson(metadata)),
  };
}

function storedBlock(
  content: Content,
  { row, literal, saved }: {
    readonly row: Pick<ExpressionState, "expr" | "result" | "error" | "stdout" | "stderr" | "durationMs" | "metadata">;
    readonly literal: boolean;
    readonly saved: readonly VariableImage[];
  },
): StoredBlock {
  const { index: _index, reads, defines, code, ms, stdout, stderr, crc, ...rest } = fromJson<BlockMetadata>(
    content.text(row.metadata ?? "{}"),
  );
  const value = row.result === null ? null : content.bytes(row.result);
  if (value) compareValue(value, crc === undefined ? {} : { crc }, "the value of a block");
  return {
    code: code ?? row.expr ?? "",
    literal,
    saved,
    reads: reads ?? [],
    value,
    result: blockResult({
      ...rest,
      stdout: stdout ?? content.text(row.stdout ?? ""),
      stderr: stderr ?? content.text(row.stderr ?? ""),
      error: row.error === null ? null : blockError(content.bytes(row.error)),
      ms: ms ?? row.durationMs ?? 0,
      defined: defines ?? [],
    }),
  };
}

function blockError(bytes: Uint8Array): BlockError {
  const fields = fromJson<BlockError>(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  return { name: "Error", message: "", line: null, column: null, excerpt: "", stack: "", ...fields };
}

const ALL: IterationRange = { after: -1, limit: Number.MAX_SAFE_INTEGER };

/** The caller must run this function in a transaction, so that the result is one snapshot. */
export async function readIterations(
  db: Database,
  queryId: string,
  { after, limit }: IterationRange = ALL,
): Promise<readonly StoredIteration[]> {
  const rows = await db.selectFrom("iteration as i")
    .select(["i.id", "i.queryStateId", "i.position", "i.status", "i.llmThinking", "i.llmResponse", "i.llmError"])
    .select(["i.llmTraces", "i.metadata", "i.createdAt"])
    .where("i.queryStateId", "=", queryId).where("i.position", ">", after)
    .orderBy("i.position").limit(limit).execute();
  const content = new Content(db);
  await content.load(
    rows.flatMap((row) => [row.llmThinking, row.llmResponse, row.llmError, row.llmTraces, row.metadata]),
  );
  const steered = await readSteered(db, queryId);
  const blocks = await readBlocks(content, { queryId, after, until: rows.at(-1)?.position ?? after });
  return rows.map((row) => ({
    iterationId: row.id,
    queryId: row.queryStateId,
    position: row.position,
    status: row.status,
    thinking: content.text(row.llmThinking ?? ""),
    response: content.text(row.llmResponse ?? ""),
    traces: tracesOf(content.text(row.llmTraces ?? "[]")),
    error: row.llmError === null ? null : content.text(row.llmError),
    blocks: blocks.get(row.id) ?? [],
    steered: steered(row.position),
    metadata: fromJson<Record<string, unknown>>(content.text(row.metadata ?? "{}")),
    createdAt: row.createdAt,
  }));
}

function tracesOf(text: string): StoredIteration["traces"] {
  const traces: unknown = JSON.parse(text);
  return Array.isArray(traces) ? traces : [];
}

async function readBlocks(
  content: Content,
  { queryId, after, until }: { readonly queryId: string; readonly after: number; readonly until: number },
): Promise<ReadonlyMap<string, readonly StoredBlock[]>> {
  const rows = await content.db.selectFrom("iteration as i")
    .innerJoin("expressionState as e", "e.iterationId", "i.id")
    .innerJoin("expressionSoul as s", "s.id", "e.expressionSoulId")
    .select(["e.id", "e.iterationId", "e.expr", "e.result", "e.error", "e.stdout", "e.stderr", "e.durationMs"])
    .select(["e.metadata", "s.kind", "s.name"])
    .where("i.queryStateId", "=", queryId).where("i.position", ">", after).where("i.position", "<=", until)
    .execute();
  await loadValues(content, rows);
  await content.load(rows.flatMap((row) => [row.error, row.stdout, row.stderr]));
  const saved = new Map<string, { readonly order: number; readonly image: VariableImage }[]>();
  const blocks: { readonly index: number; readonly row: typeof rows[number] }[] = [];
  for (const row of rows) {
    const facts = fromJson<VariableMetadata & { index: number }>(content.text(row.metadata ?? "{}"));
    if (row.kind !== "var") blocks.push({ index: facts.index ?? 0, row });
    else if (facts.block) {
      const list = saved.get(facts.block) ?? [];
      list.push({ order: facts.order ?? 0, image: variableImage(content, row) });
      saved.set(facts.block, list);
    }
  }
  const found = new Map<string, StoredBlock[]>();
  for (const { row } of blocks.sort((a, b) => a.index - b.index)) {
    const images = (saved.get(row.id) ?? []).sort((a, b) => a.order - b.order).map(({ image }) => image);
    const list = found.get(row.iterationId) ?? [];
    list.push(storedBlock(content, { row, literal: row.kind === "literal", saved: images }));
    found.set(row.iterationId, list);
  }
  return found;
}

export async function readSentMessages(
  db: Database,
  { queryId, position }: { readonly queryId: string; readonly position: number },
): Promise<readonly SentMessage[] | null> {
  const row = await db.selectFrom("iteration as i").select(["i.llmSystemPrompt", "i.llmUserPrompt"])
    .where("i.queryStateId", "=", queryId).where("i.position", "=", position)
    .executeTakeFirst();
  if (!row) return null;
  const content = new Content(db);
  await content.load([row.llmSystemPrompt, row.llmUserPrompt]);
  const told: readonly { readonly role: "user"; readonly content: string }[] = JSON.parse(
    content.text(row.llmUserPrompt ?? "[]"),
  );
  const sent = told.map(({ role, content: text }) => ({ role, text }));
  // If roles must alternate, one message contains the whole prompt, with the system text.
  if (sent.length === 1) return sent;
  return [{ role: "system", text: content.text(row.llmSystemPrompt ?? "") }, ...sent];
}

type Sent = Parameters<QueryStore["addSteered"]>[1];

export async function addSteered(
  tx: Database,
  { queryId, sent: { iteration, texts }, now }: { readonly queryId: string; readonly sent: Sent; readonly now: number },
): Promise<void> {
  const { metadata: cell } = await runningRun(tx, queryId);
  const added = texts.map((text): SteeredMessage => ({ text: searchText(text), iteration, at: now }));
  await changeQueryMetadata(tx, {
    queryId,
    cell,
    change: ({ steered = [] }) => ({ steered: [...steered, ...added] }),
  });
}

export async function setQuestion(
  tx: Database,
  { queryId, approval }: { readonly queryId: string; readonly approval: StoredApproval },
): Promise<void> {
  const { metadata: cell } = await runningRun(tx, queryId);
  await changeQueryMetadata(tx, { queryId, cell, change: () => ({ approval }) });
}

export async function setWaiting(
  tx: Database,
  { queryId, texts }: { readonly queryId: string; readonly texts: readonly string[] },
): Promise<void> {
  const { metadata: cell } = await runningRun(tx, queryId);
  await changeQueryMetadata(tx, { queryId, cell, change: () => ({ waiting: texts }) });
}

const metadataOf = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").select("s.metadata").where("s.id", "=", queryId)
);

async function readSteered(db: Database, queryId: string): Promise<(position: number) => readonly string[]> {
  const [row] = await metadataOf(db, { queryId });
  const content = new Content(db);
  await content.load([row?.metadata ?? null]);
  const { steered = [] } = fromJson<QueryMetadata>(content.text(row?.metadata ?? "{}"));
  return (position) => steeredInto(steered, position + 1).map(({ text }) => text);
}
