import type { SteeredMessage } from "../../domain/query/stored_query.ts";
import type { ResultRow } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import { WORDS } from "./words.ts";

/** What of the metadata of a query is searched. */
interface Texts {
  readonly answer: string;
  readonly steered: readonly SteeredMessage[];
}

/** The end of a statement that stores entries. */
export const PUT_ENTRY = "ON CONFLICT (owner_id, field) DO UPDATE SET words = excluded.words";

/** The rows of `search` for these cells of a row, its id among them. */
export function searchEntries(table: string, cells: ResultRow): readonly ResultRow[] {
  return Object.entries(textsOf(table, cells)).filter(([, text]) => text !== "")
    .map(([field, text]) => ({ ownerTable: table, ownerId: cells["id"], field, words: WORDS.vector(text) }));
}

function textsOf(table: string, cells: ResultRow): Readonly<Record<string, string>> {
  const cell = (name: string): string => typeof cells[name] === "string" ? cells[name] : "";
  switch (table) {
    case "query_soul":
      return { query: cell("query") };
    case "expression_state":
      return { expr: cell("expr") };
    case "query_state":
      return partsOf(cell("metadata"));
    default:
      return {};
  }
}

function partsOf(metadata: string): Readonly<Record<string, string>> {
  if (!/"answer":"|"steered":\[\{/.test(metadata)) return {};
  const { answer = "", steered = [] } = fromJson<Texts>(metadata);
  return { answer, steered: steered.map(({ text }) => text).join("\n") };
}
