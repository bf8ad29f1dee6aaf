import assert from "node:assert/strict";
import type { Services } from "../../../../src/channels/channel.ts";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import { StoreError, UsageError } from "../../../../src/domain/errors.ts";
import type { DatabaseMaintenance } from "../../../../src/domain/records/database_maintenance.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

const ID = "01a2011b-b9ea-79aa-99f6-1925867d13c1";
const COPIED = { path: "/b/copy.db", bytes: 1_234_567, schemaVersion: 2, ms: 1500 };

function fakeCare(care: Partial<DatabaseMaintenance>): DatabaseMaintenance {
  const never = (): never => assert.fail("This was not to be asked");
  return {
    location: "/v/vis.db",
    backup: never,
    restore: never,
    check: never,
    stats: never,
    prune: never,
    vacuum: never,
    ...care,
  };
}

async function db(args: readonly string[], care: Partial<DatabaseMaintenance>) {
  const io = fakeIo({ args: ["db", ...args] });
  const asked: unknown[] = [];
  const services = fakeServices({
    databaseCare: (request) => {
      asked.push(request);
      return Promise.resolve(fakeCare(care));
    },
  });
  return { code: await runCli(services, io), out: io.out, err: io.err, asked };
}

Deno.test("vis db backup reports the path and size of the copy", async () => {
  const backup = (target: string) => Promise.resolve({ ...COPIED, path: `/b/${target}` });
  const { code, out, asked } = await db(["backup", "copy.db", "--db", "x.db"], { backup });
  assert.deepEqual([code, out, asked], [0, "Backed up 1.2 MB to /b/copy.db in 1.5 s\n", [{ db: "x.db" }]]);
  const json = await db(["backup", "copy.db", "--json"], { backup });
  assert.deepEqual(JSON.parse(json.out), COPIED);
});

Deno.test("vis db restore reports the path of the old file", async () => {
  const restore = () => Promise.resolve({ ...COPIED, path: "/v/vis.db", keptAs: "/v/vis.db.before" });
  assert.equal(
    (await db(["restore", "copy.db"], { restore })).out,
    "Restored 1.2 MB to /v/vis.db\nThe previous database is now /v/vis.db.before\n",
  );
});

Deno.test("vis db check exits with 1 if there is a fault", async () => {
  const report = { problems: [], contents: 7, unused: 1, schemaVersion: 2, ms: 12 };
  const sound = await db(["check"], { check: () => Promise.resolve(report) });
  assert.deepEqual([sound.code, sound.out.split("\n")[0]], [0, "/v/vis.db is sound: 7 contents read in 12 ms"]);
  const bad = await db(["check"], { check: () => Promise.resolve({ ...report, problems: ["row \u001b[2J"] }) });
  assert.deepEqual([bad.code, bad.out.split("\n")[0]], [1, "✗ row \\u001b[2J"]);
});

Deno.test("vis db prune lists by default and deletes with --yes", async () => {
  const given: unknown[] = [];
  const prune = (options: { before: number; dryRun: boolean }) => {
    given.push(options.dryRun, Math.round((Date.now() - options.before) / 3_600_000));
    return Promise.resolve({
      dryRun: options.dryRun,
      conversations: [{ conversationId: ID, title: "a\nb", queries: 1, lastActivity: 0 }],
      logRows: 2,
      contents: 3,
      contentBytes: 4000,
      everything: false,
    });
  };
  const dry = await db(["prune", "--older-than", "30d"], { prune });
  assert.match(
    dry.out,
    new RegExp(`^${ID}  1970-01-01 +1 request  a b\nWould delete 1 conversation and 2 log entries\nAdd --yes`),
  );
  const done = await db(["prune", "--older-than", "12h", "--yes"], { prune });
  assert.match(done.out, /Deleted 1 conversation and 2 log entries, 4\.0 KB of 3 contents/);
  assert.deepEqual(given, [true, 720, false, 12]);
});

Deno.test("vis db prune refuses an invalid age", async () => {
  for (const age of ["30", "d", "-3d", "1e9d", "30 days", ""]) {
    const { code, err } = await db(["prune", "--older-than", age], {});
    assert.equal(code, 2, age);
    assert.match(err, /hours, days or weeks/);
  }
  assert.equal((await db(["prune"], {})).code, 2);
});

Deno.test("vis db stats shows tables, content and conversations", async () => {
  const stats = {
    path: "/v/vis.db",
    fileBytes: 4_000_000,
    walBytes: 0,
    freeBytes: 10,
    schemaVersion: 2,
    sqliteVersion: "3.50.2",
    tables: [{ table: "iteration", rows: 3, bytes: 5000 }, { table: "lease", rows: 0, bytes: 4096 }],
    content: [{ encoding: "delta", rows: 2, bytes: 999 }],
    conversations: [{ conversationId: ID, title: "t", queries: 1, iterations: 2, versions: 3, bytes: 7 }],
  };
  const { out } = await db(["stats"], { stats: () => Promise.resolve(stats) });
  assert.match(out, /4\.0 MB file, 0 B log, 10 B free · schema V2, vis 1\.2\.3, SQLite 3\.50\.2/);
  assert.match(out, /iteration +3 rows +5\.0 KB/);
  assert.doesNotMatch(out, /lease/);
  assert.match(out, /content: delta +2 rows +999 B/);
  assert.match(out, /1 request, 2 steps, 3 versions {2}t/);
});

Deno.test("vis db reports an error in one sentence with its exit code", async () => {
  const busy = await db(["vacuum"], {
    vacuum: () => Promise.reject(new StoreError("Cannot vacuum x: it is used", "busy")),
  });
  assert.deepEqual([busy.code, busy.err], [3, "vis: Cannot vacuum x: it is used\n"]);
  const none = await db(["check"], { check: () => Promise.reject(new UsageError("Cannot check x: none")) });
  assert.deepEqual([none.code, none.err], [2, "vis: Cannot check x: none\n"]);
});

Deno.test("vis db copy shows its progress only on a terminal, and reports the comparison", async () => {
  const report = { from: "/v/vis.db", to: "postgres://vis@db.example.org/vis", rows: 250, ms: 2000 };
  const copied = async (args: readonly string[], terminal: boolean) => {
    const io = fakeIo({
      args: ["db", "copy", "vis.db", "postgres://vis@db.example.org/vis", ...args],
      stderrIsTerminal: terminal,
    });
    const copyDatabase: Services["copyDatabase"] = ({ onProgress }) => {
      onProgress({ step: "copying", rows: 100, of: 250 });
      onProgress({ step: "verifying", rows: 250, of: 250 });
      return Promise.resolve(report);
    };
    return { code: await runCli(fakeServices({ copyDatabase }), io), out: io.out, err: io.err };
  };
  const line = "Copied /v/vis.db to postgres://vis@db.example.org/vis: 250 rows, each compared, in 2.0 s\n";
  assert.deepEqual(await copied([], false), { code: 0, out: line, err: "" });
  const clear = "\r\x1b[K";
  const err = `${clear}Copying row 100 of 250${clear}Comparing row 250 of 250${clear}`;
  assert.deepEqual(await copied([], true), { code: 0, out: line, err });
  assert.deepEqual(JSON.parse((await copied(["--json"], false)).out), report);
});
