import type { CompiledQuery } from "kysely";
import type { Database } from "./database.ts";

/** Stands for a value by name while its query is compiled. */
class Parameter {
  constructor(readonly name: string) {}
}

/** A query whose values have names. Kysely builds it once for each kind of database, because building takes longer than running it in SQLite, so
 * `build` must not depend on the values themselves. */
export function namedQuery<V extends object, R>(
  build: (db: Database, values: V) => { compile(): CompiledQuery<R> },
): (db: Database, values: V) => Promise<readonly R[]> {
  const built: { [K in Database["kind"]]?: CompiledQuery<R> } = {};
  return async (db, values) => {
    const compiled = built[db.kind] ??= build(db, parametersFor(values)).compile();
    const bound = compiled.parameters.map((one) => one instanceof Parameter ? Reflect.get(values, one.name) : one);
    // The builder that made the text guarantees the shape of its rows.
    return await db.run(compiled.sql, bound) as readonly R[];
  };
}

function parametersFor<V extends object>(values: V): V {
  // `build` only passes them on, and nothing but their names is read.
  return Object.fromEntries(Object.keys(values).map((name) => [name, new Parameter(name)])) as unknown as V;
}
