/** `backup_main.ts SOURCE TARGET`: what `vis db backup` does. */
import { SqliteCare } from "../../src/persistence/sqlite_care.ts";

const [source = "", target = ""] = Deno.args;
await new SqliteCare({ path: source }).backup(target);
