import assert from "node:assert/strict";
import { openStore } from "../../../src/persistence/open_store.ts";
import { PostgresDatabase } from "../../../src/persistence/postgres/postgres_database.ts";
import { readAddress, Server } from "../../../src/persistence/postgres/server.ts";
import { type Postgres, postgresTests } from "../../helpers/postgres.ts";

const test = await postgresTests({ settings: ["synchronous_commit = on"] });
const INSERT = "INSERT INTO conversation_soul (id, created_at, activity) VALUES ($1, 1, 1)";

interface Rig {
  readonly server: Postgres;
  readonly url: string;
  readonly db: PostgresDatabase;
}

function check(name: string, work: (rig: Rig) => Promise<void>): void {
  test(name, async (server) => {
    const url = await server.createDatabase();
    await (await openStore({ path: url })).close();
    const db = new PostgresDatabase(new Server(readAddress(url), { patienceMs: 60_000 }), { tenant: "default" });
    await db.write(async (tx) => await tx.run(INSERT, ["before"]));
    await work({ server, url, db });
    await db.close();
  });
}

const ids = async ({ server, url }: Rig): Promise<string> =>
  await server.sql("SELECT string_agg(id, ' ' ORDER BY id) FROM conversation_soul", url);

for (const others of [0, 20]) {
  check(
    `a transaction that a crash of the server undid runs again, with ${others} others after the crash`,
    async (rig) => {
      let tries = 0;
      await rig.db.write(async (tx) => {
        await tx.run(INSERT, [`try ${++tries}`]);
        if (tries > 1) return;
        await rig.server.stop("immediate");
        await rig.server.start();
        // These rows get the numbers that the server assigned before and has forgotten.
        for (let n = 0; n < others; n++) await rig.server.sql("SELECT pg_current_xact_id()");
      });
      assert.equal(await ids(rig), "before try 2");
    },
  );
}
