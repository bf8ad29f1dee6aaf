import type { EnvironmentView } from "@vis/extension";

/** What is stored, to be read. Throws where an environment has no database. */
export function readerOf({ db }: EnvironmentView): NonNullable<EnvironmentView["db"]> {
  if (db) return db;
  throw new Error("Cannot look into the history: this environment has no database");
}
