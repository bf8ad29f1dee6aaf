import assert from "node:assert/strict";
import { openStore } from "../../../src/persistence/open_store.ts";
import { type Postgres, postgresTests } from "../../helpers/postgres.ts";

const onServer = await postgresTests();

function test(name: string, run: (postgres: Postgres, url: string) => Promise<void>): void {
  onServer(name, async (postgres) => run(postgres, await postgres.createDatabase()));
}

test("check() reports a role that policies do not bind", async (_, url) => {
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
