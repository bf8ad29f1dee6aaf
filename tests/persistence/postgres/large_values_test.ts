import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { COMPILED_HEAP_MIB } from "../../../scripts/flags.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { begun, block, image, iterate } from "../../conformance/store/fixtures.ts";
import { postgresTests } from "../../helpers/postgres.ts";
import { noise } from "../_filled.ts";
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

test("a fork, an export and an import have a value that is in pieces", async (postgres) => {
  const store = await openStore({ path: await postgres.createDatabase() });
  const { conversationId, queryId } = await begun(store);
  const [long, short] = [noise("long", 2 * MIB), noise("short", 2 * MIB).subarray(0, 72)];
  // A value that looks like a reference, as far as one can.
  short.set([1, ...new TextEncoder().encode(`sha256:${"0".repeat(64)}`)]);
  const saved = [image("long", { bytes: long }), image("short", { bytes: short })];
  await iterate(store, { queryId, position: 0, blocks: [block("x", { value: long.subarray(0, MIB - 1), saved })] });
  const fork = await store.fork({ queryId, position: 0 });
  await store.setScope(fork.branchId, { names: ["short"], scope: "forgotten" });
  await store.setScope(fork.branchId, { names: ["short"], scope: "live" });
  const imported = await store.importConversation(await store.exportConversation(conversationId), { workspace: "/w" });
  const [copy] = await store.branches(imported.conversationId);
  for (const branchId of [fork.branchId, copy?.branchId ?? ""]) {
    const found = new Map((await store.liveImages(branchId)).map((one) => [one.name, one.bytes]));
    assert.deepEqual(found.get("long"), long);
    assert.deepEqual(found.get("short"), short);
  }
  await store.close();
});
