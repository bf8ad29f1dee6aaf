import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { noise } from "../_filled.ts";
import { givenAgain, MARK, marked, pieces } from "../_marked.ts";
import { withDatabasePath } from "../_temp_database.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../../src/persistence/sqlite/maintenance.ts";
import { begun, block, image, iterate, queryEnd, utf8 } from "../../conformance/store/fixtures.ts";
import { runs } from "../../helpers/long_part.ts";

const DELETER = fileURLToPath(new URL("../_deleter.ts", import.meta.url));

/** Returns the tables, including those of the search index, that have the mark. */
function marks(path: string): readonly string[] {
  using db = new DatabaseSync(path);
  const tables = db.prepare(
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') AND name NOT LIKE 'sqlite%'",
  ).all();
  return tables.flatMap(({ name }) => {
    const rows = db.prepare(`SELECT * FROM "${String(name)}"`).all();
    const has = (cell: unknown): boolean =>
      Buffer.from(cell instanceof Uint8Array ? cell : utf8(String(cell))).includes(MARK);
    return rows.some((row) => Object.values(row).some(has)) ? [String(name)] : [];
  });
}

async function markedFiles(path: string): Promise<readonly string[]> {
  const names = await readdir(dirname(path));
  const found = await Promise.all(
    names.map(async (name) => (await readFile(join(dirname(path), name))).includes(MARK)),
  );
  return names.filter((_, at) => found[at]);
}

Deno.test("no table has anything of a conversation that was deleted, and after vacuum no file", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const kept = await begun(store, { text: "another one" });
    await iterate(store, { queryId: kept.queryId, position: 0, blocks: [block("1")] });
    await store.endQuery(kept.queryId, queryEnd({ answer: "kept" }));
    const { conversationId } = await marked(store, { large: false });
    assert.ok(marks(path).length > 7, String(marks(path)));
    await store.deleteConversation(conversationId);
    await store.close();
    assert.deepEqual(marks(path), []);
    const care = new SqliteMaintenance({ path });
    const { problems, unused } = await care.check();
    assert.deepEqual([problems, unused], [[], 0]);
    await care.vacuum();
    assert.deepEqual(await markedFiles(path), []);
    const again = await openStore({ path });
    assert.equal((await again.search("another", { limit: 5 })).length, 1);
    await again.close();
  });
});

Deno.test("large texts and bytes of extensions go with the conversation, also while a query runs", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const { conversationId } = await marked(store);
    await begun(store, { text: "runs" });
    await store.deleteConversation(conversationId);
    await store.close();
    assert.deepEqual(marks(path), []);
    await new SqliteMaintenance({ path }).vacuum();
    assert.deepEqual(await markedFiles(path), []);
  });
});

Deno.test("a text that is given again is not erased with another conversation, but with its own", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    await givenAgain(store);
    await store.close();
    assert.deepEqual(marks(path), []);
  });
});

Deno.test("a text that was given and never used goes a day later, when the database is opened", async () => {
  await withDatabasePath(async (path) => {
    let time = 1_800_000_000_000;
    const store = await openStore({ path, now: () => time });
    const { conversationId } = await marked(store);
    await store.putLarge(pieces());
    await store.deleteConversation(conversationId);
    await store.close();
    assert.deepEqual(marks(path), ["content"]);
    time += 25 * 3_600_000;
    await (await openStore({ path, now: () => time })).close();
    assert.deepEqual(marks(path), []);
  });
});

Deno.test("whenever a process that deletes is killed, the next one erases the rest", async () => {
  await withDatabasePath(async (path, folder) => {
    const store = await openStore({ path });
    const { conversationId } = await marked(store);
    await store.close();
    const left = join(folder, "left");
    await mkdir(left);
    const args = ["run", "--allow-all", "--quiet", DELETER, path, conversationId, left];
    const { code } = await new Deno.Command(Deno.execPath(), { args, stdin: "null", stderr: "inherit" }).output();
    assert.equal(code, 0);
    const found = { kept: 0, erased: 0 };
    for (const name of (await readdir(left)).filter((name) => name.endsWith(".db"))) {
      const copy = join(left, name);
      const after = await openStore({ path: copy });
      if (await after.findConversation(conversationId) === null) found.erased++;
      else {
        found.kept++;
        await after.deleteConversation(conversationId);
      }
      await after.close();
      assert.deepEqual(marks(copy), [], `step ${name}`);
      const { problems, unused } = await new SqliteMaintenance({ path: copy }).check();
      assert.deepEqual([problems, unused], [[], 0], `step ${name}`);
    }
    assert.ok(found.kept >= 2 && found.erased >= 3, `${found.kept} kept, ${found.erased} erased`);
    assert.deepEqual(marks(path), []);
  });
});

Deno.test("content that other conversations share with a deleted one stays, whenever they stored it", async () => {
  const conversation = fc.record({
    text: fc.constantFrom("a", "b", "c"),
    seed: fc.constantFrom("x", "y"),
    tail: fc.constantFrom("", "1", "2"),
  });
  const steps = fc.array(fc.record({ add: conversation, removes: fc.boolean() }), { minLength: 3, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      await withDatabasePath(async (path) => {
        const store = await openStore({ path });
        const all: { readonly id: string; readonly branchId: string; readonly bytes: Uint8Array }[] = [];
        for (const { add: { seed, tail, ...add }, removes } of plan) {
          const [text, value] = [`${add.text} text `.repeat(400), noise(seed, 150_000)];
          const deleting = removes ? all.shift() : undefined;
          const removed = deleting && store.deleteConversation(deleting.id);
          const { branchId, conversationId, queryId } = await begun(store, { text });
          const bytes = new Uint8Array([...value, ...utf8(tail)]);
          for (const [position, saved] of [value, bytes].entries()) {
            const made = block("v", { saved: [image("v", { bytes: saved })], result: { stdout: text } });
            await iterate(store, { queryId, position, blocks: [made] });
          }
          await store.endQuery(queryId, queryEnd({ answer: text }));
          await removed;
          all.push({ id: conversationId, branchId, bytes });
        }
        for (const { branchId, bytes } of all) {
          assert.deepEqual((await store.liveImages(branchId))[0]?.bytes, bytes);
        }
        await store.close();
        const { problems, unused } = await new SqliteMaintenance({ path }).check();
        assert.deepEqual([problems, unused], [[], 0]);
      });
    }),
    { numRuns: runs(4, 8) },
  );
});

Deno.test("a call that ends after its block keeps content that it shares with a conversation that is deleted meanwhile", async () => {
  const output = "a late text ".repeat(2_000);
  const late = [{ iteration: 1, block: 0, call: { name: "fs.late", ms: 1, ok: true, output }, diffs: [] }];
  for (let ticks = 0; ticks < 12; ticks++) {
    await withDatabasePath(async (path) => {
      const store = await openStore({ path });
      const blocks = [block("1")];
      const deleted = await begun(store, { text: "deleted" });
      await iterate(store, { queryId: deleted.queryId, position: 0, blocks });
      await iterate(store, { queryId: deleted.queryId, position: 1, blocks, late });
      await store.endQuery(deleted.queryId, queryEnd({ answer: "1" }));
      const kept = await begun(store, { text: "kept" });
      await iterate(store, { queryId: kept.queryId, position: 0, blocks });
      const removed = store.deleteConversation(deleted.conversationId);
      for (let tick = 0; tick < ticks; tick++) await new Promise((go) => setTimeout(go));
      await iterate(store, { queryId: kept.queryId, position: 1, blocks, late });
      await removed;
      await store.endQuery(kept.queryId, queryEnd({ answer: "1" }));
      await store.close();
      const { problems, unused } = await new SqliteMaintenance({ path }).check();
      assert.deepEqual([problems, unused], [[], 0], `${ticks} ticks`);
    });
  }
});
