/** `_care_main.ts PATH COPY` opens a database, which migrates it, and maintains it. It prints a line for each step. */
import { openStore } from "../../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../../src/persistence/sqlite/maintenance.ts";

const [path = "", copy = ""] = Deno.args;
const say = (text: string) => Deno.stdout.write(new TextEncoder().encode(`${text}\n`));
await (await openStore({ path })).close();
await say("migrated");
const care = new SqliteMaintenance({ path });
await care.prune({ before: 0, dryRun: false });
await care.vacuum();
await care.backup(copy);
await care.restore(copy);
await care.stats();
await say(JSON.stringify((await care.check()).problems));
