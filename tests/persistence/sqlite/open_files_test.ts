import assert from "node:assert/strict";
import { dirname } from "node:path";
import { StoreError } from "../../../src/domain/errors.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import type { Store } from "../../../src/persistence/store.ts";
import { newQuery } from "../../conformance/store/fixtures.ts";
import { withDatabase } from "../../helpers/with_database.ts";

const FACTS = { title: "t", channel: "test", workspace: "/w" } as const;

function moved(says: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.code, "moved");
    assert.match(error.message, says);
    return true;
  };
}

/** Changes the files of a store with stored rows. The store reports no later row as stored. */
async function changed(
  change: (path: string) => void,
  says: RegExp,
  after: (store: Store, path: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await withDatabase(async (path) => {
    const store = await openStore({ path });
    try {
      await store.createConversation(FACTS);
      assert.equal(store.fileFault(), "");
      change(path);
      await assert.rejects(store.createConversation(FACTS), moved(says));
      await assert.rejects(
        Promise.all([store.createConversation(FACTS), store.createConversation(FACTS)]),
        moved(says),
      );
      assert.match(store.fileFault(), /while it was in use/);
      await after(store, path);
    } finally {
      await store.close();
    }
  });
}

Deno.test("a store says that its file was removed, and that its folder was", async () => {
  await changed((path) => Deno.removeSync(path), /^Cannot use database .*x\.db: the file was removed or renamed while/);
  await changed((path) => {
    Deno.removeSync(dirname(path), { recursive: true });
    Deno.mkdirSync(dirname(path));
  }, /: the file was removed or renamed while/);
});

Deno.test("a store whose file was renamed stores again once it is back, and nothing is missing", async () => {
  await changed(
    (path) => Deno.renameSync(path, `${path}.away`),
    /: the file was removed or renamed while/,
    async (store, path) => {
      Deno.renameSync(`${path}.away`, path);
      const { conversationId } = await store.createConversation(FACTS);
      const other = await openStore({ path });
      const listed = await other.listConversations({ limit: 9 });
      await other.close();
      assert.ok(listed.some((one) => one.conversationId === conversationId));
      assert.equal(listed.length, 5, "what was refused meanwhile was written to the file that is back");
    },
  );
});

Deno.test("while the file is away, a store begins no query, so the conversation is free once the file is back", async () => {
  await withDatabase(async (path) => {
    const store = await openStore({ path });
    const { branchId, conversationId } = await store.createConversation(FACTS);
    Deno.renameSync(path, `${path}.away`);
    await assert.rejects(store.beginQuery(newQuery(branchId, "x")), moved(/restore its name/));
    Deno.renameSync(`${path}.away`, path);
    assert.equal(await store.runningQuery(conversationId), null);
    assert.deepEqual(await store.queries(branchId), []);
    await store.close();
  });
});

Deno.test("a store reports that another file replaced its own, and does not change that file", async () => {
  await changed((path) => {
    Deno.copyFileSync(path, `${path}.copy`);
    Deno.renameSync(`${path}.copy`, path);
  }, /: another file took its place while/);
  await withDatabase(async (path) => {
    const store = await openStore({ path });
    await store.createConversation(FACTS);
    for (const suffix of ["", "-wal", "-shm"]) Deno.renameSync(`${path}${suffix}`, `${path}.away${suffix}`);
    const other = await openStore({ path });
    const { conversationId } = await other.createConversation(FACTS);
    await assert.rejects(store.createConversation(FACTS), moved(/another file took its place/));
    await store.close();
    await other.createConversation(FACTS);
    await other.close();
    const again = await openStore({ path });
    const listed = await again.listConversations({ limit: 9 });
    await again.close();
    assert.deepEqual([listed.length, listed.some((one) => one.conversationId === conversationId)], [2, true]);
  });
});

Deno.test("a store reports that its log was removed or replaced, also next to the target of a link", async () => {
  for (const suffix of ["-wal", "-shm"]) {
    await changed((path) => Deno.removeSync(`${path}${suffix}`), /: its log .* was removed or replaced while/);
    await changed((path) => {
      Deno.writeTextFileSync(`${path}.other`, "");
      Deno.renameSync(`${path}.other`, `${path}${suffix}`);
    }, /: its log .* was removed or replaced while/);
  }
  await withDatabase(async (path) => {
    Deno.mkdirSync(`${dirname(path)}/real`);
    await (await openStore({ path: `${dirname(path)}/real/y.db` })).close();
    Deno.symlinkSync(`${dirname(path)}/real/y.db`, path);
    const store = await openStore({ path });
    await store.createConversation(FACTS);
    Deno.removeSync(`${dirname(path)}/real/y.db-wal`);
    await assert.rejects(store.createConversation(FACTS), moved(/its log/));
    await store.close();
  });
});

Deno.test("a store in memory has no file that could be lost", async () => {
  const store = await openStore({ path: ":memory:" });
  await store.createConversation(FACTS);
  assert.equal(store.fileFault(), "");
  await store.close();
});
