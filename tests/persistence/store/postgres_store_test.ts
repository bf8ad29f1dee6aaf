import { openStore } from "../../../src/persistence/open_store.ts";
import { storeSuite } from "../../conformance/store/suite.ts";
import { noPostgres, startPostgres } from "../../helpers/postgres.ts";

/** Costs much less than another database. Without triggers the order of the tables does not matter. */
const EMPTY = `SET session_replication_role = replica; DO $$
  DECLARE name regclass;
  BEGIN
    FOR name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
      IF name <> 'schema_migration'::regclass THEN EXECUTE format('DELETE FROM %s', name); END IF;
    END LOOP;
  END $$`;

const postgres = noPostgres === "" ? await startPostgres() : null;

if (postgres === null) Deno.test({ name: `the store in PostgreSQL: ${noPostgres}`, ignore: true, fn: () => {} });
else {
  const path = await postgres.createDatabase();
  storeSuite("PostgreSQL", async (clock) => ({
    store: await openStore({ path, now: () => clock.now }),
    dispose: async () => void await postgres.sql(EMPTY, path),
  }));
}
