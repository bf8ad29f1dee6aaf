import { addUsage, type ModelTrace, NO_USAGE } from "../../domain/query/model_call.ts";
import type { QueryEnd, Usage } from "../../domain/query/query_schemas.ts";
import type { SteeredMessage } from "../../domain/query/stored_query.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson, toJson } from "../database/json.ts";
import { updateRow } from "../database/update_row.ts";

/** `query_state.metadata`. */
export interface QueryMetadata extends Omit<QueryEnd, "status"> {
  /** Usage of all calls, failed ones included, by "provider/model". */
  readonly byModel: Readonly<Record<string, Usage>>;
  readonly steered: readonly SteeredMessage[];
}

/** Changes the metadata of a query in the transaction `db`. */
export async function changeQueryMetadata(
  db: Database,
  { queryId, change, cell }: {
    readonly queryId: string;
    /** The metadata as it was read. */
    readonly cell: string | null;
    readonly change: (before: Partial<QueryMetadata>) => Partial<QueryMetadata>;
  },
): Promise<void> {
  const content = new Content(db);
  await content.load([cell]);
  const before = fromJson<QueryMetadata>(cell === null ? null : content.text(cell));
  const metadata = await content.putText(toJson({ ...before, ...change(before) }));
  if (metadata !== cell) {
    await updateRow(db, "queryState", { id: queryId, changes: { metadata } });
  }
}

/** Adds the usage of more calls to the usage by model. */
export function addTraces(
  byModel: Readonly<Record<string, Usage>>,
  traces: readonly ModelTrace[],
): Readonly<Record<string, Usage>> {
  const sums = new Map(Object.entries(byModel));
  for (const { provider, model, usage } of traces) {
    if (usage) sums.set(`${provider}/${model}`, addUsage(sums.get(`${provider}/${model}`) ?? NO_USAGE, usage));
  }
  return Object.fromEntries(sums);
}
