import type { SteeredMessage } from "../../domain/query/steered_message.ts";
import { Words } from "./words.ts";

const WORDS = new Words();
const TEXT = `INSERT INTO search (owner_table, owner_id, field, words) VALUES ($1, $2, $3, $4::tsvector)
  ON CONFLICT (owner_id, field) DO UPDATE SET words = excluded.words`;
const STATEMENT =
  /^(?:INSERT INTO (query_soul|expression_state|query_state) \(([^)]*)\)|UPDATE (query_state) SET (.*) WHERE)/;

interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** The statements that keep the search index current with a row that another statement has stored. */
export function indexed(text: string, parameters: readonly unknown[]): readonly Statement[] {
  const [, made, columns, changed, set] = STATEMENT.exec(text) ?? [];
  const table = made ?? changed;
  if (table === undefined) return [];
  const names = (columns ?? set ?? "").split(", ").map((part) => part.split(" ")[0] ?? "");
  const cell = (name: string): string => {
    const found = parameters[names.indexOf(name)];
    return typeof found === "string" ? found : "";
  };
  const id = changed ? String(parameters.at(-1)) : cell("id");
  const texts = table === "query_soul"
    ? { query: cell("query") }
    : table === "expression_state"
    ? { expr: cell("expr") }
    : partsOf(cell("metadata"));
  return Object.entries(texts).filter(([, one]) => one !== "").map(([field, one]) => (
    { text: TEXT, parameters: [table, id, field, WORDS.vector(one)] }
  ));
}

/** Texts in the metadata of a query. */
function partsOf(metadata: string): Readonly<Record<string, string>> {
  if (!/"answer":"|"steered":\[\{/.test(metadata)) return {};
  const { answer = "", steered = [] }: { readonly answer?: string; readonly steered?: readonly SteeredMessage[] } = JSON
    .parse(
      metadata,
    );
  return { answer, steered: steered.map(({ text }) => text).join("\n") };
}
