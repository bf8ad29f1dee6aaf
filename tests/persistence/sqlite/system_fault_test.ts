import assert from "node:assert/strict";
import { dirname } from "node:path";
import { systemFault } from "../../../src/persistence/sqlite/sqlite_error.ts";
import { withDatabase } from "../../helpers/with_database.ts";

Deno.test("systemFault() finds nothing where a file can be written, and leaves nothing behind", async () => {
  await withDatabase(async (path) => {
    await Deno.writeTextFile(path, "x");
    assert.equal(systemFault(path), "");
    assert.deepEqual(Array.from(Deno.readDirSync(dirname(path)), ({ name }) => name), ["x.db"]);
  });
});

Deno.test("systemFault() has the system's words for a missing folder and for a folder that accepts no files", () => {
  assert.match(systemFault("/does/not/exist/x.db"), /^ENOENT /);
  if (Deno.build.os === "linux") assert.notEqual(systemFault("/sys/kernel/x.db"), "");
});
