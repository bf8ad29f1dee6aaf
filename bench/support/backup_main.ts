/** `backup_main.ts SOURCE TARGET` makes the backup of `vis db backup`. */
import { SqliteMaintenance } from "../../src/persistence/sqlite/maintenance.ts";

const [source = "", target = ""] = Deno.args;
await new SqliteMaintenance({ path: source }).backup(target);
