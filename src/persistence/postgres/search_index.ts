import type { SteeredMessage } from "../../domain/query/steered_message.ts";
import type { ResultRow } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import { snakeCase } from "../schema/snake_case.ts";
import { WORDS } from "./words.ts";

/** What of the metadata of a query is searched. */
interface Texts {
  readonly answer: string;
  readonly steered: readonly SteeredMessage[];
}

/** Stores an entry of the search index. */
export const PUT_ENTRY = `INSERT INTO search (owner_table, owner_id, field, words) VALUES ($1, $2, $3, $4::tsvector)
  ON CONFLICT (owner_id, field) DO UPDATE SET words = excluded.words`;

/** The entries of the search index for these cells of a row, as parameters of `PUT_ENTRY`. */
export function searchEntries(table: string, cells: ResultRow): readonly (readonly unknown[])[] {
  return Object.entries(textsOf(table, cells)).filter(([, text]) => text !== "")
    .map(([field, text]) => [snakeCase(table), cells["id"], field, WORDS.vector(text)]);
}

function textsOf(table: string, cells: ResultRow): Readonly<Record<string, string>> {
  const cell = (name: string): string => typeof cells[name] === "string" ? cells[name] : "";
  switch (table) {
    case "querySoul":
      return { query: cell("query") };
    case "expressionState":
      return { expr: cell("expr") };
    case "queryState":
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
