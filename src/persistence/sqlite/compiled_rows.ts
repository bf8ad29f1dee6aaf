import type { CompiledQuery } from "kysely";
import type { Database } from "./database.ts";

/** SQL by the name of its query; a name always refers to the same text. */
const TEXTS = new Map<string, string>();

export interface FixedQuery<R> {
  /** A different name for each shape, for example for each number of values in a list. */
  readonly name: string;
  readonly build: () => { compile(): CompiledQuery<R> };
  /** The values in the order in which the builder uses them; the first run compares the two. */
  readonly parameters: readonly unknown[];
}

/** The rows of a query of fixed shape. Kysely builds it only the first time, because building takes longer than running
 * it in SQLite. */
export async function compiledRows<R>(db: Database, query: FixedQuery<R>): Promise<readonly R[]> {
  const rows = await db.run(TEXTS.get(query.name) ?? firstText(query), query.parameters);
  // The builder that made the text guarantees the shape of its rows.
  return rows as readonly R[];
}

function firstText<R>({ name, build, parameters }: FixedQuery<R>): string {
  const compiled = build().compile();
  const inOrder = compiled.parameters.length === parameters.length &&
    compiled.parameters.every((value, at) => value === parameters[at]);
  if (!inOrder) throw new Error(`Cannot run the query "${name}": its parameters are named in another order`);
  TEXTS.set(name, compiled.sql);
  return compiled.sql;
}
