import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "../../../src/persistence/open_store.ts";
import { begun, newQuery, queryEnd, utf8 } from "../../conformance/store/fixtures.ts";
import { DAY, filled, noise, NOW, opened } from "../_filled.ts";
import { withDatabasePath } from "../_temp_database.ts";

const OWNER = newQuery("", "").owner;

Deno.test("prune() deletes idle conversations with their content, but no content that others refer to", async () => {
  await withDatabasePath(async (path) => {
    let time = NOW - 90 * DAY;
    const { store, care } = await opened(path, () => time);
    const old = await filled(store, "alpha");
    time = NOW - 10 * DAY;
    const young = await filled(store, "omega");
    time = NOW;
    const images = await store.liveImages(young.branchId);
    await store.close();
    const dry = await care.prune({ before: NOW - 30 * DAY, dryRun: true });
    assert.deepEqual(dry.conversations.map(({ conversationId }) => conversationId), [old.conversationId]);
    assert.deepEqual([dry.dryRun, dry.conversations[0]?.queries, dry.conversations[0]?.lastActivity], [
      true,
      1,
      NOW - 90 * DAY,
    ]);
    const done = await care.prune({ before: NOW - 30 * DAY, dryRun: false });
    assert.equal(done.conversations.length, 1);
    assert.ok(done.contents > 5 && done.contentBytes > 600_000 && done.everything, JSON.stringify(done));
    assert.deepEqual(await care.check().then(({ problems, unused }) => [problems, unused]), [[], 0]);
    const again = await openStore({ path });
    assert.equal(await again.query(old.queryId), null);
    assert.deepEqual(await again.liveImages(young.branchId), images);
    assert.equal((await again.search("alpha", { limit: 5 })).length, 0);
    assert.ok((await again.search("omega", { limit: 5 })).length > 0);
    await again.close();
    const before = (await stat(path)).size;
    const { bytesAfter } = await care.vacuum();
    assert.ok(bytesAfter < before - 500_000 && bytesAfter === (await stat(path)).size);
  });
});

Deno.test("prune() keeps a conversation in which a query runs, and one whose branch is younger", async () => {
  await withDatabasePath(async (path) => {
    let time = NOW - 90 * DAY;
    const { store, care } = await opened(path, () => time);
    const running = await begun(store);
    const branch = await store.createConversation({ title: "t", channel: "cli", workspace: "/w" });
    const lost = await store.beginQuery({ ...newQuery(branch.branchId, "left"), owner: { ...OWNER, host: "gone" } });
    const idle = await filled(store, "alpha");
    const forked = await filled(store, "forked");
    time = NOW;
    await store.fork({ queryId: forked.queryId, position: null });
    await store.renewLeases(OWNER);
    await care.prune({ before: NOW - 30 * DAY, dryRun: false });
    assert.ok(await store.query(running.queryId));
    assert.equal(await store.query(lost), null, "its process renewed no lease for 90 days");
    assert.ok(await store.query(forked.queryId));
    assert.equal(await store.query(idle.queryId), null);
    await store.close();
  });
});

Deno.test("prune() next to another process keeps content of the last day, which may soon be referred to", async () => {
  await withDatabasePath(async (path) => {
    let time = NOW - 90 * DAY;
    const { store, care } = await opened(path, () => time);
    await filled(store, "alpha");
    time = NOW - 60 * DAY;
    const kept = await filled(store, "kept");
    await store.beginQuery(newQuery(kept.branchId, "still here"));
    time = NOW;
    async function* pieces() {
      yield utf8("a large context that no row names yet ".repeat(100));
    }
    const large = await store.putLarge(pieces());
    const report = await care.prune({ before: NOW - 70 * DAY, dryRun: false });
    assert.equal(report.everything, false);
    assert.ok(report.contents > 0, JSON.stringify(report));
    assert.equal((await Array.fromAsync(store.largePieces(large))).length, 1);
    assert.equal((await store.liveImages(kept.branchId)).length, 2);
    assert.deepEqual((await care.check()).problems, []);
    await store.close();
    assert.ok((await care.prune({ before: 0, dryRun: false })).contents > 0);
    assert.deepEqual(await care.check().then(({ problems, unused }) => [problems, unused]), [[], 0]);
  });
});

Deno.test("prune() keeps images of a request, which only JSON names", async () => {
  await withDatabasePath(async (path) => {
    const { store, care } = await opened(path);
    const { branchId } = await begun(store);
    const images = Array.from({ length: 20 }, (_, at) => (
      { kind: "bytes", mediaType: "image/png", bytes: noise(`${at}`, 3000) } as const
    ));
    const queryId = await store.beginQuery(newQuery(branchId, "look", { images, answerSchema: "{}".padEnd(5000) }));
    await store.close();
    await care.prune({ before: 0, dryRun: false });
    const again = await openStore({ path });
    assert.deepEqual((await again.queryExtras(queryId)).images, images);
    await again.close();
  });
});

Deno.test("prune() deletes log rows of that age", async () => {
  await withDatabasePath(async (path) => {
    let time = NOW - 90 * DAY;
    const { store, care } = await opened(path, () => time);
    await store.log({ level: "info", event: "old", data: { text: "x".repeat(5000) } });
    time = NOW;
    await store.log({ level: "info", event: "young", data: {} });
    await store.close();
    assert.equal((await care.prune({ before: NOW - DAY, dryRun: false })).logRows, 1);
    using db = new DatabaseSync(path);
    assert.deepEqual(db.prepare("SELECT event FROM log").all().map(({ event }) => event), ["young"]);
    assert.equal(db.prepare("SELECT count(*) AS n FROM content").get()?.n, 0);
  });
});

Deno.test("prune(), vacuum() and check() prepare as many statements for 40 conversations as for 4", async () => {
  const prepared = async (conversations: number): Promise<readonly number[]> => {
    const { prepare } = DatabaseSync.prototype;
    const state = { count: 0 };
    const counts: number[] = [];
    await withDatabasePath(async (path) => {
      const { store, care } = await opened(path, () => NOW - 90 * DAY);
      for (let at = 0; at < conversations; at++) {
        const { queryId } = await begun(store, { text: `sha256:${"0".repeat(64)} ${at}` });
        await store.endQuery(queryId, queryEnd({ answer: `see sha256:${"1".repeat(64)} and ${at}` }));
      }
      await store.close();
      try {
        DatabaseSync.prototype.prepare = function (...args) {
          state.count++;
          return prepare.apply(this, args);
        };
        for (
          const work of [
            () => care.check(),
            () => care.vacuum(),
            () => care.prune({ before: NOW - 30 * DAY, dryRun: false }),
          ]
        ) {
          state.count = 0;
          await work();
          counts.push(state.count);
        }
      } finally {
        DatabaseSync.prototype.prepare = prepare;
      }
    });
    return counts;
  };
  assert.deepEqual(await prepared(40), await prepared(4));
});
