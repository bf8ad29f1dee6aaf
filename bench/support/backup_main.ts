/** `backup_main.ts SOURCE TARGET` makes the same backup as `vis db backup`. */
import { SqliteMaintenance } from "../../src/persistence/sqlite/maintenance.ts";

const [source = "", target = ""] = Deno.args;
await new SqliteMaintenance({ path: source }).backup(target);
