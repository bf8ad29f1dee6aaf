import type { EnvironmentView } from "@vis/extension";

/** Read access to what is stored. Throws if an environment has no database. */
export function readerOf({ db }: EnvironmentView): NonNullable<EnvironmentView["db"]> {
  if (db) return db;
  throw new Error("Cannot look into the history: this environment has no database");
}
