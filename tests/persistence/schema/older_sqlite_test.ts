import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../../migrations/mod.ts";
import { migrate } from "../../../src/persistence/sqlite/migrate.ts";
import { withDatabasePath } from "../_temp_database.ts";

/** Runs the system's shell of SQLite, which may be years older than the library of the runtime. */
function shell(args: readonly string[]) {
  const { success, stdout, stderr } = new Deno.Command("sqlite3", { args: [...args], stdin: "null" }).outputSync();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\n$/, "");
  return { success, stdout: text(stdout), stderr: text(stderr) };
}

function versionOf(): string {
  try {
    return shell(["--version"]).stdout.split(" ")[0] ?? "";
  } catch {
    return "";
  }
}

const VERSION = versionOf();
const hash = (digit: string): string => digit.repeat(64);

/** Stores a text in two pieces and a change of it. Twelve more texts make the order of numbers differ from the order as
 * texts. */
function fill(db: DatabaseSync): { readonly whole: string; readonly changed: string } {
  const insert = db.prepare(
    "INSERT INTO content (hash, encoding, bytes, base, steps, spent) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const parts = Array.from({ length: 12 }, (_, at) => `part ${at}; `);
  const hashes = parts.map((_, at) => at.toString(16).padStart(64, "0"));
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  parts.forEach((part, at) => insert.run(hashes[at] ?? "", "raw", bytes(part), null, null, null));
  insert.run(hash("a"), "chunks", bytes(JSON.stringify(hashes)), null, null, null);
  insert.run(hash("b"), "delta", bytes("Xé"), hash("a"), "[[0,4,1],[5,9,2],[14,200,0]]", 2);
  const whole = parts.join("");
  return { whole, changed: `${whole.slice(0, 4)}X${whole.slice(5, 14)}é${whole.slice(14)}` };
}

const views = "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name";

for (const { version } of migrations) {
  Deno.test({
    name: `a database of schema V${version}, once migrated, can be read by sqlite3${
      VERSION ? ` (here ${VERSION})` : " (skipped: no sqlite3 on the PATH)"
    }`,
    ignore: VERSION === "",
    fn: () =>
      withDatabasePath(async (path) => {
        const db = new DatabaseSync(path);
        await migrate(db, migrations.slice(0, version), { path, now: () => 1 });
        const { whole, changed } = fill(db);
        await migrate(db, migrations, { path, now: () => 2 });
        const names = db.prepare(views).all().map(({ name }) => String(name));
        db.close();
        const reads = names.map((name) => `SELECT count(*) FROM (SELECT * FROM ${name});`);
        const text = (digit: string) => `SELECT CAST(bytes AS TEXT) FROM content_full WHERE hash = '${hash(digit)}';`;
        const { stdout, stderr } = shell([path, `PRAGMA integrity_check; ${reads.join("")}${text("a")}${text("b")}`]);
        assert.equal(stderr, "");
        const lines = stdout.split("\n");
        assert.deepEqual([lines[0], lines.length], ["ok", names.length + 3]);
        assert.deepEqual(lines.slice(-2), [whole, changed]);
      }),
  });
}
