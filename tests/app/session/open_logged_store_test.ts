import assert from "node:assert/strict";
import { openLoggedStore } from "../../../src/app/session/open_session.ts";
import { createLog } from "../../../src/logging/log.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { begun } from "../../conformance/store/fixtures.ts";
import { withDatabasePath } from "../../persistence/_temp_database.ts";

Deno.test("openLoggedStore() stores log entries with their scope until it is closed", async () => {
  await withDatabasePath(async (path) => {
    const store = await openLoggedStore({ path });
    const { queryId, conversationId } = await begun(store);
    createLog("query").info("query_ended", { queryId, ms: 3 });
    await store.close();
    createLog("query").info("late");
    const again = await openStore({ path });
    const rows = await again.of(null).logs({ limit: 5 });
    assert.deepEqual(rows.map(({ event, data }) => [event, data]), [["query_ended", { category: "vis.query", ms: 3 }]]);
    assert.deepEqual([rows[0]?.queryId, rows[0]?.conversationId], [queryId, conversationId]);
    await again.close();
  });
});

Deno.test("openLoggedStore() with alone keeps entries out of the other open stores until it is closed", async () => {
  await withDatabasePath(async (path) => {
    const store = await openLoggedStore({ path });
    const scratch = await openLoggedStore({ path: ":memory:", alone: true });
    createLog("query").info("of_replay", { ms: 3 });
    await scratch.close();
    createLog("query").info("after_it", { ms: 3 });
    await store.close();
    const again = await openStore({ path });
    assert.deepEqual((await again.of(null).logs({ limit: 5 })).map(({ event }) => event), ["after_it"]);
    await again.close();
  });
});
