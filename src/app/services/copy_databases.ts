import { UsageError } from "../../domain/errors.ts";
import type { DatabaseCopyReport, DatabaseCopyRequest } from "../../domain/records/database_maintenance.ts";
import { copyStore } from "../../persistence/copy_store.ts";
import { databaseOf } from "../settings/database_of.ts";

/** Copies between two databases as their names on the command line say, with the password of the environment. */
export async function copyDatabases(
  request: DatabaseCopyRequest,
  env: Readonly<Record<string, string | undefined>>,
): Promise<DatabaseCopyReport> {
  const chosen = (flag: string) => {
    if (flag === "") throw new UsageError("Cannot copy: the name of a database is empty");
    return databaseOf({ flag, setting: null, env, home: null });
  };
  const [from, to] = [await chosen(request.from), await chosen(request.to)];
  const password = from.databasePassword ?? to.databasePassword;
  return await copyStore({ ...request, from: from.database, to: to.database, password });
}
