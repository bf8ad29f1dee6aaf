/** A real server refuses statements, by SQLSTATE. */
import assert from "node:assert/strict";
import { problemOf } from "../../../src/channels/http/problem.ts";
import { StoreError } from "../../../src/domain/errors.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { PostgresDatabase } from "../../../src/persistence/postgres/postgres_database.ts";
import { toPostgresError } from "../../../src/persistence/postgres/postgres_error.ts";
import { readAddress, Server } from "../../../src/persistence/postgres/server.ts";
import { type Postgres, postgresTests } from "../../helpers/postgres.ts";

const test = await postgresTests();
const ALWAYS = 1_000;

interface Rig {
  readonly db: PostgresDatabase;
  refuse(code: string, times: number): Promise<void>;
  /** Returns the number of these statements since then. */
  tries(): Promise<number>;
}

async function rigged(postgres: Postgres, work: (rig: Rig) => Promise<void>): Promise<void> {
  const url = await postgres.createDatabase();
  await (await openStore({ path: url })).close();
  await postgres.sql(
    `CREATE SEQUENCE tries; CREATE TABLE refusal (code text, times bigint);
     GRANT ALL ON SEQUENCE tries TO vis; GRANT SELECT ON refusal TO vis;
     CREATE FUNCTION refused() RETURNS bigint LANGUAGE plpgsql AS $$
     DECLARE how refusal;
     BEGIN
       SELECT * INTO how FROM refusal;
       IF nextval('tries') > how.times THEN RETURN 1; END IF;
       IF how.code = '57P01' THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60); END IF;
       RAISE EXCEPTION 'refused' USING ERRCODE = how.code;
     END $$`,
    url,
  );
  const db = new PostgresDatabase(new Server(readAddress(url), { patienceMs: 60_000 }), { tenant: "default" });
  try {
    await work({
      db,
      refuse: async (code, times) => {
        await postgres.sql(`DELETE FROM refusal; INSERT INTO refusal VALUES ('${code}', ${times})`, url);
        await postgres.sql("ALTER SEQUENCE tries RESTART", url);
      },
      tries: async () =>
        Number(await postgres.sql("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM tries", url)),
    });
  } finally {
    await db.close();
  }
}

const INSERT = "INSERT INTO conversation_soul (id, created_at, activity) VALUES ($1, 1, refused())";
const WAYS: Readonly<Record<"transaction" | "statement", (db: PostgresDatabase, id: string) => Promise<unknown>>> = {
  transaction: (db, id) => db.write(async (tx) => await tx.run(INSERT, [id])),
  statement: (db) => db.run("SELECT refused()", []),
};

for (const code of ["40001", "40P01", "57P01"]) {
  for (const [way, work] of Object.entries(WAYS)) {
    test(`a ${way} that is refused with ${code} runs again`, async (postgres) => {
      await rigged(postgres, async ({ db, refuse, tries }) => {
        await refuse(code, 2);
        await work(db, "a");
        assert.equal(await tries(), 3);
      });
    });
  }
}

test("reads that are always in conflict end", async (postgres) => {
  await rigged(postgres, async ({ db }) => {
    let tries = 0;
    const read = db.read(() => {
      tries++;
      return Promise.reject(Object.assign(new Error("Conflict"), { code: "40001" }));
    });
    await assert.rejects(read, /Conflict/);
    assert.equal(tries, 8);
  });
});

const TOLD = [
  ["40001", /another operation on the database conflicts with this one; try again/, 503],
  ["40P01", /another operation on the database conflicts with this one; try again/, 503],
  ["53100", /the disk of the PostgreSQL server is full; free space/, 503],
  ["53200", /too many connections, too little memory or another exceeded limit; try again/, 503],
  ["53300", /too many connections, too little memory or another exceeded limit; try again/, 503],
  ["25006", /PostgreSQL or the database is read-only; give the address of the primary server/, 503],
] as const;

for (const [code, words, status] of TOLD) {
  test(`a statement that is always refused with ${code} fails with words and status ${status}`, async (postgres) => {
    await rigged(postgres, async ({ db, refuse, tries }) => {
      for (const way of ["statement", "transaction"] as const) {
        await refuse(code, ALWAYS);
        const error = await WAYS[way](db, "b").then(() => assert.fail(), (error) => toPostgresError(error, "it"));
        assert.ok(error instanceof StoreError);
        assert.match(error.message, words);
        assert.equal(problemOf(error)?.status, status);
        assert.equal(await tries(), code.startsWith("40") ? 8 : 1, way);
      }
    });
  });
}
