/** Changes one bit or byte of the database: docs/decisions/04-store.md. */
import assert from "node:assert/strict";
import { buildSandbox } from "../helpers/sandbox.ts";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "../../src/persistence/open_store.ts";
import { fillForFlips } from "./_flip_database.ts";
import { flipTries } from "./flip_tries.ts";

Deno.test("after a flipped bit in any kind of page, values stay the same, and every error names the damage", async () => {
  await buildSandbox();
  const folder = await Deno.makeTempDir({ prefix: "vis-flips-" });
  try {
    const report = await flipTries({ count: 150, seed: 20_260_101, folder, reads: 60, sandboxEvery: 25 });
    const { tries, wrong, unclear, refused, unharmed, examples } = report;
    assert.deepEqual({ tries, wrong, unclear }, { tries: 150, wrong: 0, unclear: 0 }, examples.join("\n"));
    // A test that damages no data, or in which every read is refused, proves nothing. About one try in twelve is
    // refused.
    assert.ok(refused >= 5 && unharmed >= 5, `${refused} refused, ${unharmed} unharmed`);
    assert.ok(report.byKind.size > 80, `${report.byKind.size} kinds of pages`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a search reports a damaged database if the settings of its index cannot be read", async () => {
  const folder = await Deno.makeTempDir({ prefix: "vis-flips-" });
  try {
    const path = `${folder}/search.db`;
    await fillForFlips(path, 14);
    const db = new DatabaseSync(path, { readOnly: true });
    const page = Number(db.prepare("SELECT pageno FROM dbstat WHERE name = 'search_config'").get()?.pageno);
    db.close();
    const bytes = await Deno.readFile(path);
    bytes[(page - 1) * 4096]! ^= 64;
    await Deno.writeFile(path, bytes);
    const store = await openStore({ path });
    await assert.rejects(store.search("boom", { limit: 1 }), /is damaged \(.*vis db check/);
    await store.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
