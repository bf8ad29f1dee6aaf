/** `_denied_main.ts PATH COPY` opens a database, makes a backup and stores a row, and prints the result of each. */
import { StoreError } from "../../src/domain/errors.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../src/persistence/sqlite/maintenance.ts";

const [path = "", copy = ""] = Deno.args;

async function said(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return "done";
  } catch (error) {
    return error instanceof StoreError ? `${error.code}: ${error.message}` : `defect: ${String(error)}`;
  }
}

const opened = await said(async () => await (await openStore({ path, busyMs: 50 })).close());
const backed = await said(() => new SqliteMaintenance({ path }).backup(copy));
console.log(JSON.stringify({ opened, backed }));
