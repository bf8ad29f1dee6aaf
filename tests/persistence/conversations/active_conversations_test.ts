import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "../../../src/persistence/open_store.ts";
import { withDatabasePath } from "../_temp_database.ts";

Deno.test("the order of conversations is compared again once another process has written", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    await store.createConversation({ title: "T", channel: "cli", workspace: "/w" });
    assert.equal((await store.listConversations({ limit: 5 })).length, 1);
    await store.createConversation({ title: "U", channel: "cli", workspace: "/w" });
    assert.equal((await store.listConversations({ limit: 5 })).length, 2);
    const other = new DatabaseSync(path);
    other.exec("UPDATE tally SET activity = activity + 1");
    other.close();
    await assert.rejects(store.listConversations({ limit: 5 }), { name: "StoreError", code: "corrupt" });
    await assert.rejects(store.latestConversation("/w"), { name: "StoreError", code: "corrupt" });
    await store.close();
  });
});
