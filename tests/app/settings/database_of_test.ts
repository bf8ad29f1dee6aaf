import assert from "node:assert/strict";
import { databaseOf } from "../../../src/app/settings/settings.ts";

const choose = (parts: Partial<Parameters<typeof databaseOf>[0]>) =>
  databaseOf({ flag: undefined, setting: null, env: {}, home: "/home/ana/.vis", ...parts });

Deno.test("databaseOf() prefers the flag to the environment, and the environment to the settings", async () => {
  const env = { VIS_DB: "/data/env.db" };
  assert.deepEqual(await choose({}), { database: "/home/ana/.vis/vis.db" });
  assert.deepEqual(await choose({ setting: "/data/set.db" }), { database: "/data/set.db" });
  assert.deepEqual(await choose({ setting: "/data/set.db", env }), { database: "/data/env.db" });
  assert.deepEqual(await choose({ flag: ":memory:", env }), { database: ":memory:" });
  const url = { ...env, VIS_DATABASE_URL: "postgres://vis@db.example.org/vis" };
  assert.deepEqual(await choose({ env: url }), { database: "postgres://vis@db.example.org/vis" });
  await assert.rejects(choose({ home: null }), /Cannot choose a database: Vis has no home folder/);
});

Deno.test("databaseOf() takes no URL of another kind for a path, and does not show its password", async () => {
  for (const flag of ["postgress://vis:secret@db.example.org/vis", "mysql://vis:secret@db.example.org/vis"]) {
    await assert.rejects(
      choose({ flag }),
      /^ConfigError: Cannot use database \w+:\/\/…: Vis uses files and PostgreSQL/,
    );
  }
});

Deno.test("databaseOf() separates the password from the URL that is shown", async () => {
  const flag = "postgres://vis:p%40ss@db.example.org:5433/vis?sslmode=require";
  const database = "postgres://vis@db.example.org:5433/vis?sslmode=require";
  assert.deepEqual(await choose({ flag }), { database, databasePassword: "p@ss" });
  const plain = { flag: "postgres://vis:50%off@db.example.org/vis" };
  assert.deepEqual(await choose(plain), { database: "postgres://vis@db.example.org/vis", databasePassword: "50%off" });
  const env = { VIS_DATABASE_PASSWORD: "other" };
  assert.deepEqual(await choose({ flag, env }), { database, databasePassword: "other" });
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, "from a file\n");
  const VIS_DATABASE_PASSWORD_FILE = file;
  assert.deepEqual(await choose({ flag, env: { VIS_DATABASE_PASSWORD_FILE } }), {
    database,
    databasePassword: "from a file",
  });
  await Deno.remove(file);
  await assert.rejects(
    choose({ flag, env: { VIS_DATABASE_PASSWORD_FILE } }),
    /Cannot read the password of the database from/,
  );
});

Deno.test("databaseOf() keeps the port of a URL without a user", async () => {
  const urls = ["127.0.0.1:5999/x", "[::1]:5998/x", "db.example.org:5433", "h:5433/x?options=a@b", "vis@h:5433/x"];
  for (const rest of urls) {
    for (const flag of [`postgres://${rest}`, `postgresql://${rest}`]) {
      assert.deepEqual(await choose({ flag }), { database: flag });
    }
  }
  const flag = "postgres://vis:s3:cr@t@[::1]:5433/x";
  assert.deepEqual(await choose({ flag }), {
    database: "postgres://vis@[::1]:5433/x",
    databasePassword: "s3:cr@t",
  });
});
