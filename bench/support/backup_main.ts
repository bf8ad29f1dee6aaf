/** `backup_main.ts SOURCE TARGET`: what `vis db backup` does. */
import { SqliteMaintenance } from "../../src/persistence/sqlite_maintenance.ts";

const [source = "", target = ""] = Deno.args;
await new SqliteMaintenance({ path: source }).backup(target);
