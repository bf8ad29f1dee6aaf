import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { COMPILED_HEAP_MIB } from "../../../scripts/flags.ts";
import { postgresTests } from "../../helpers/postgres.ts";
import { withDatabasePath } from "../_temp_database.ts";

const MAIN = fileURLToPath(new URL("_large_main.ts", import.meta.url));
const MIB = 1 << 20;

const test = await postgresTests();

test("values of 60 MB are stored, read and copied with the heap of the executable, in pieces", async (postgres) => {
  await withDatabasePath(async (file) => {
    const [url, other] = [await postgres.createDatabase(), await postgres.createDatabase()];
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `--v8-flags=--max-old-space-size=${COMPILED_HEAP_MIB}`, MAIN, url, other, file],
      stdin: "null",
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr).slice(0, 2000));
    assert.match(new TextDecoder().decode(stdout), /^(\d{9})\n\1\n\1\n$/);
    for (const one of [url, other]) {
      const most = async (sql: string) => Number(await postgres.sql(`SELECT ${sql}`, one));
      assert.ok(await most("max(octet_length(bytes)) FROM content") < MIB);
      assert.ok(await most("max(octet_length(result)) FROM expression_state") < MIB);
      // Both versions of the largest one together take hardly more than one.
      assert.ok(await most("sum(octet_length(bytes)) FROM content") < 150 * MIB);
    }
  });
});
