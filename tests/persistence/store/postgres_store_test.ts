import { openStore } from "../../../src/persistence/open_store.ts";
import { storeSuite } from "../../conformance/store/suite.ts";
import { noPostgres, startPostgres } from "../../helpers/postgres.ts";

const postgres = noPostgres === "" ? await startPostgres() : null;

if (postgres === null) Deno.test({ name: `the store in PostgreSQL: ${noPostgres}`, ignore: true, fn: () => {} });
else {
  storeSuite("PostgreSQL", async (clock) => ({
    store: await openStore({ path: await postgres.createDatabase(), now: () => clock.now }),
    dispose: () => Promise.resolve(),
  }));
}
