import assert from "node:assert/strict";
import { StoredHistory } from "../../../src/environment/environment_for_extensions.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { encode } from "../../../src/sandbox/codec/codec.ts";
import { begun, block, image, iterate } from "../../conformance/store/fixtures.ts";

Deno.test("StoredHistory reads versions of a variable as data, and lists them", async () => {
  const store = await openStore({ path: ":memory:" });
  const running = await begun(store);
  const { conversationId, queryId } = running;
  for (const position of [0, 1]) {
    const saved = [image("n", { bytes: encode({ n: position }), root: "n" })];
    await iterate(store, { queryId, position, blocks: [block(`n = ${position}`, { saved })] });
  }
  const history = new StoredHistory(store, running);
  assert.equal(await history.variable(conversationId, { name: "n" }), 1);
  assert.equal(await history.variable(conversationId, { name: "n", version: 1 }), 0);
  await assert.rejects(history.variable(conversationId, { name: "n", version: 3 }), {
    name: "UsageError",
    message: `Cannot find version 3 of n: it has 2 versions; choose 1 to 2`,
  });
  assert.deepEqual((await history.queries(conversationId)).map(({ status }) => status), ["running"]);
  assert.deepEqual((await history.iterations(queryId)).map(({ number }) => number), [1, 2]);
  const versions = await history.versions(conversationId, "n");
  assert.deepEqual(versions.map(({ version, type, code }) => [version, type, code]), [
    [1, "string", "n = 0"],
    [2, "string", "n = 1"],
  ]);
  assert.deepEqual(await history.dependencies(conversationId), []);
  await store.log({ level: "info", event: "seen", data: {}, conversationId });
  await store.log({ level: "info", event: "other", data: {} });
  const logs = await history.logs({ limit: 9, conversationId: conversationId.slice(0, 13) });
  assert.deepEqual(logs.map(({ event }) => event), ["seen"]);
  await store.close();
});

Deno.test("StoredHistory takes the start of a conversation's id and refuses an unknown one", async () => {
  const store = await openStore({ path: ":memory:" });
  const running = await begun(store, { text: "marmalade" });
  const { conversationId } = running;
  const history = new StoredHistory(store, running);
  const filter = { limit: 5, conversationId: conversationId.slice(0, 13) };
  assert.equal((await history.search("marmalade", filter)).length, 1);
  const unknown = {
    name: "UsageError",
    message:
      "Cannot find conversation 00000000: no conversation or branch has this id, or several ids begin with it; use the whole id",
  };
  await assert.rejects(history.search("marmalade", { ...filter, conversationId: "00000000" }), unknown);
  await assert.rejects(history.variables("00000000"), unknown);
  await store.close();
});
