import type { IterationRange } from "../../domain/query/stored_query.ts";
import type { VariableImage } from "../../domain/query/variable.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import type { StoredBlock, StoredIteration } from "../store/iteration_store.ts";
import { loadValues, variableImage, type VariableMetadata } from "../variables/row.ts";
import { storedBlock } from "./block_row.ts";
import { readSteered } from "./steered.ts";

const ALL: IterationRange = { after: -1, limit: Number.MAX_SAFE_INTEGER };

/** The iterations of a query with their blocks, in order. Run it in a transaction, so that everything is from one
 * moment. */
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

/** By iteration. */
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
