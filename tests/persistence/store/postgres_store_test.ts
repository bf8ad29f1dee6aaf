import assert from "node:assert/strict";
import { Owners } from "../../../src/persistence/database_store.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { PostgresDatabase } from "../../../src/persistence/postgres/postgres_database.ts";
import { storeSuite } from "../../conformance/store/suite.ts";
import { attack, secrets, whole } from "../../conformance/store/tenants.ts";
import { noPostgres, usualPostgres } from "../../helpers/postgres.ts";

/** Emptying the tables is much cheaper than another database. Without triggers, their order does not matter. */
const EMPTY = `SET session_replication_role = replica; DO $$
  DECLARE name regclass;
  BEGIN
    FOR name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
      IF name <> 'schema_migration'::regclass THEN EXECUTE format('DELETE FROM %s', name); END IF;
    END LOOP;
  END $$`;

const postgres = await usualPostgres();

if (postgres === null) Deno.test({ name: `the store in PostgreSQL: ${noPostgres}`, ignore: true, fn: () => {} });
else {
  const path = await postgres.createDatabase();
  storeSuite("PostgreSQL", async (clock) => ({
    store: await openStore({ path, now: () => clock.now }),
    dispose: async () => void await postgres.sql(EMPTY, path),
  }));

  Deno.test("PostgreSQL keeps tenants apart also where the program checks nothing", async () => {
    const path = await postgres.createDatabase();
    const store = await openStore({ path });
    const ids = await secrets(store.of("ana"));
    const before = await whole(store.of("ana"), ids);
    const tenant = Object.getOwnPropertyDescriptor(PostgresDatabase.prototype, "tenant") ?? {};
    const { checked } = Owners.prototype;
    try {
      Owners.prototype.checked = (_name, method) => method;
      const unchecked = await openStore({ path });
      Object.defineProperty(PostgresDatabase.prototype, "tenant", { ...tenant, get: () => null });
      try {
        assert.equal(await attack(unchecked, ids), 49);
      } finally {
        await unchecked.close();
      }
    } finally {
      Owners.prototype.checked = checked;
      Object.defineProperty(PostgresDatabase.prototype, "tenant", tenant);
    }
    assert.equal(await whole(store.of("ana"), ids), before);
    await store.close();
  });

  Deno.test("PostgreSQL shows and takes nothing while no tenant is named", async () => {
    const path = await postgres.createDatabase();
    const store = await openStore({ path });
    await secrets(store.of("ana"));
    await store.close();
    const tables = (await postgres.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1", path))
      .split("\n");
    const open = ["content", "long_value", "long_value_piece", "search", "erasure", "claim"]
      .concat("last_write", "node", "schema_migration");
    assert.equal(tables.length, 28);
    for (const table of tables.filter((name) => !open.includes(name))) {
      const count = `SET ROLE vis; SELECT count(*) FROM ${table}`;
      assert.equal(await postgres.sql(count, path), "0", table);
      assert.equal(await postgres.sql(`SET vis.tenant = 'ben'; ${count}`, path), "0", table);
      await assert.rejects(
        postgres.sql(`SET ROLE vis; INSERT INTO ${table} DEFAULT VALUES`, path),
        /vis\.tenant|policy/,
      );
    }
    assert.equal(await postgres.sql("SET vis.tenant = '*'; SET ROLE vis; SELECT count(*) FROM iteration", path), "1");
  });
}
