import assert from "node:assert/strict";
import { Owners } from "../../../src/persistence/database_store.ts";
import { PostgresDatabase } from "../../../src/persistence/postgres/postgres_database.ts";
import { postgresTests } from "../../helpers/postgres.ts";
import { attackRoutes, check, prepare } from "./_tenants_attacks.ts";
import { startTenants } from "./_tenants_rig.ts";

const test = await postgresTests();

test("no route, key, stream or function of an extension reaches another tenant, in PostgreSQL", async (postgres) => {
  await check(await postgres.createDatabase());
});

test("no route reaches another tenant where PostgreSQL alone keeps them apart", async (postgres) => {
  const { checked } = Owners.prototype;
  Owners.prototype.checked = (_name, method) => method;
  const tenant = Object.getOwnPropertyDescriptor(PostgresDatabase.prototype, "tenant") ?? {};
  try {
    await using tenants = await startTenants(await postgres.createDatabase());
    const ana = await prepare(tenants);
    Object.defineProperty(PostgresDatabase.prototype, "tenant", { ...tenant, get: () => null });
    assert.ok(await attackRoutes(tenants, ana) > 100);
  } finally {
    Object.defineProperty(PostgresDatabase.prototype, "tenant", tenant);
    Owners.prototype.checked = checked;
  }
});
