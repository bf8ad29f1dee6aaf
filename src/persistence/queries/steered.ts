import { steeredInto, type SteeredMessage } from "../../domain/query/stored_query.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import { namedQuery } from "../database/named_query.ts";
import { searchText } from "../database/search_text.ts";
import { runningRun } from "../runs/fence.ts";
import { changeQueryMetadata, type QueryMetadata } from "../runs/query_metadata.ts";
import type { QueryStore } from "../store/query_store.ts";

type Sent = Parameters<QueryStore["addSteered"]>[1];

/** `QueryStore.addSteered`, in the transaction `tx` of the run. */
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

const metadataOf = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").select("s.metadata").where("s.id", "=", queryId)
);

/** What the user sent while a query ran, by the position (0-based) of the iteration. */
export async function readSteered(db: Database, queryId: string): Promise<(position: number) => readonly string[]> {
  const [row] = await metadataOf(db, { queryId });
  const content = new Content(db);
  await content.load([row?.metadata ?? null]);
  const { steered = [] } = fromJson<QueryMetadata>(content.text(row?.metadata ?? "{}"));
  return (position) => steeredInto(steered, position + 1).map(({ text }) => text);
}
