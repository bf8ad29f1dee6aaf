import type { Content } from "../content/content.ts";
import { firstWords } from "./first_words.ts";
import { insertRow } from "../database/insert_row.ts";
import { toJson } from "../database/json.ts";
import { extrasMetadata } from "./extras.ts";
import { nextQuery } from "../runs/query_numbers.ts";
import { searchText } from "../database/search_text.ts";
import type { NewQuery } from "../store/query_store.ts";

const TITLE_CHARS = 100;

/** Stores the request of a query, as the next one of its branch. */
export async function insertQuerySoul(
  content: Content,
  { id, query, createdAt }: { readonly id: string; readonly query: NewQuery; readonly createdAt: number },
): Promise<{ readonly variables: number | null }> {
  const { branchId, text } = query;
  const column = searchText(text);
  const exact = column === text ? {} : { query: text };
  const place = await nextQuery(content.db, branchId);
  await insertRow(content.db, "querySoul", {
    id,
    conversationStateId: branchId,
    title: await content.putText(firstWords(text, TITLE_CHARS)),
    query: column,
    metadata: await content.putText(toJson({ ...exact, ...await extrasMetadata(content, query) })),
    createdAt,
    ...place,
  });
  return place;
}
