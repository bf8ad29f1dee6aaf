import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { migrations } from "../../../migrations/postgres/mod.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { type Postgres, postgresTests } from "../../helpers/postgres.ts";

const TENANTS = 3;
const ROWS = `
  INSERT INTO conversation_soul (id, metadata, created_at, activity, branches)
  VALUES ('00000000-c', '{"channel":"telegram","workspace":"/w","externalId":"7"}', 1, 1, 1);
  INSERT INTO conversation_state (id, conversation_soul_id, title, version, metadata, created_at)
  VALUES ('00000000-b', '00000000-c', 'A title', 0, '{}', 1);
  INSERT INTO extension_state (id, namespace, position, key, version, value, created_at)
  VALUES ('x', 'n', -1, 'k', 1, '5', 1)`;

const onServer = await postgresTests();

function test(name: string, run: (postgres: Postgres, url: string) => Promise<void>): void {
  onServer(name, async (postgres) => run(postgres, await postgres.createDatabase()));
}

test("rows from before there were tenants belong to the default one", async ({ sql }, url) => {
  const before = migrations.filter(({ version }) => version < TENANTS).map(({ version, name, sql }) => {
    const sha256 = createHash("sha256").update(sql).digest("hex");
    return `${sql}; INSERT INTO schema_migration VALUES (${version}, '${name}', '${sha256}', 1);`;
  });
  const table = "CREATE TABLE schema_migration (version bigint PRIMARY KEY, name text, sha256 text, applied_at bigint)";
  await sql(`SET ROLE vis; ${table}; ${before.join("\n")} ${ROWS}`, url);
  const store = await openStore({ path: url });
  const [found] = await store.listConversations({ limit: 9 });
  assert.deepEqual([found?.tenant, found?.title], ["default", "A title"]);
  assert.equal((await store.findExternal({ channel: "telegram", externalId: "7" }))?.branchId, "00000000-b");
  assert.equal((await store.states.get({ namespace: "n", branchId: null }, { key: "k" }))?.value, 5);
  assert.deepEqual(await store.of("ana").listConversations({ limit: 9 }), []);
  await store.close();
});

test("check() tells of a role that policies do not bind", async (_, url) => {
  const problems = async (path: string): Promise<readonly string[]> => {
    const store = await openStore({ path });
    try {
      return await store.check();
    } finally {
      await store.close();
    }
  };
  assert.deepEqual(await problems(url), []);
  assert.match(
    (await problems(url.replace("://vis@", "://admin@"))).join(),
    /the role admin bypasses row-level security/,
  );
});
