import type { CompiledQuery } from "kysely";
import type { Database } from "./database.ts";

/** Stands for a value by name while its query is compiled. */
class Parameter {
  constructor(readonly name: string) {}
}

/** A query whose values have names. Kysely builds it once for each kind of database, because that takes longer than
 * SQLite takes to run it, so `build` must not depend on the values themselves. */
export function namedQuery<V extends object, R>(
  build: Build<V, R>,
): (db: Database, values: V) => Promise<readonly R[]> {
  const bound = binder(build);
  return async (db, values) => {
    const { sql, parameters } = bound(db, values);
    // The builder that made the text guarantees the shape of its rows.
    return await db.run(sql, parameters) as readonly R[];
  };
}

/** The same for a change whose rows nobody needs. */
export function namedChange<V extends object>(build: Build<V, unknown>): (db: Database, values: V) => Promise<void> {
  const bound = binder(build);
  return async (db, values) => {
    const { sql, parameters } = bound(db, values);
    await db.store(sql, parameters);
  };
}

type Build<V, R> = (db: Database, values: V) => { compile(): CompiledQuery<R> };

function binder<V extends object>(build: Build<V, unknown>) {
  const built: { [K in Database["kind"]]?: CompiledQuery } = {};
  return (db: Database, values: V) => {
    const { sql, parameters } = built[db.kind] ??= build(db, parametersFor(values)).compile();
    return {
      sql,
      parameters: parameters.map((one) => one instanceof Parameter ? Reflect.get(values, one.name) : one),
    };
  };
}

function parametersFor<V extends object>(values: V): V {
  // `build` only passes them on, and nothing but their names is read.
  return Object.fromEntries(Object.keys(values).map((name) => [name, new Parameter(name)])) as unknown as V;
}
