import assert from "node:assert/strict";
import { join } from "node:path";
import { openStore } from "../../../src/persistence/open_store.ts";
import { filled, noise, NOW, opened } from "../_filled.ts";
import { withDatabasePath } from "../_temp_database.ts";

const long = (seed: string): string => `sha256:${"0".repeat(64)} ${noise(seed, 100_000).toBase64()}`;

Deno.test("the states of extensions are checked, measured, backed up and restored, and unused content is collected", () =>
  withDatabasePath(async (path, folder) => {
    const { store, care } = await opened(path);
    const one = await filled(store, "one");
    const two = await filled(store, "two");
    for (const { branchId, conversationId } of [one, two]) {
      await store.states.put({ namespace: "test.a", branchId }, { key: "k", value: long(conversationId) });
    }
    await store.deleteConversation(two.conversationId);
    const ended = { namespace: "test.a", branchId: null };
    await store.states.put(ended, { key: "k", value: long("ended") });
    await store.states.delete(ended, "k");
    const kept = { namespace: "test.a", branchId: one.branchId };
    const value = async (from: typeof store) => (await from.states.get(kept, { key: "k" }))?.value;
    const before = await care.check();
    assert.deepEqual(before.problems, []);
    assert.ok(before.unused > 0);
    await store.close();

    await care.prune({ before: 1, dryRun: false });
    const after = await care.check();
    assert.deepEqual([after.problems, after.unused], [[], 0]);
    const { tables, conversations: [measured] } = await care.stats();
    assert.ok(tables.some(({ table, rows }) => table === "extension_state" && rows === 1));
    assert.ok((measured?.bytes ?? 0) > 700_000, `${measured?.bytes}`); // The variables alone take 600 000 bytes.
    const copy = join(folder, "copy.db");
    await care.backup(copy);
    const again = await openStore({ path, now: () => NOW });
    assert.equal(await value(again), long(one.conversationId));
    await again.states.delete(kept, "k");
    await again.close();
    await care.restore(copy);
    const restored = await openStore({ path, now: () => NOW });
    assert.equal(await value(restored), long(one.conversationId));
    await restored.close();
  }));
