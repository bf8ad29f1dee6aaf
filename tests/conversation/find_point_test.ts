import assert from "node:assert/strict";
import { findPoint } from "../../src/conversation/stored_conversations.ts";
import { UsageError } from "../../src/domain/errors.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { begun, iterate, newQuery, queryEnd } from "../conformance/store/fixtures.ts";

Deno.test("findPoint() reads N over a conversation, QUERY.ITERATION, 0, and N of a query", async () => {
  const store = await openStore({ path: ":memory:" });
  const { conversationId, branchId, queryId: first } = await begun(store);
  for (const position of [0, 1]) await iterate(store, { queryId: first, position, blocks: [] });
  await store.endQuery(first, queryEnd());
  const second = await store.beginQuery(newQuery(branchId, "two"));
  for (const position of [0, 1, 2]) await iterate(store, { queryId: second, position, blocks: [] });
  await store.endQuery(second, queryEnd());
  const at = async (text: string | null, id = conversationId): Promise<unknown> => {
    const { point } = await findPoint(store, id, text);
    return [point.queryId === first ? 1 : 2, point.position];
  };
  assert.deepEqual(await at(null), [2, 2]);
  assert.deepEqual(await at("0"), [1, -1]);
  assert.deepEqual(await at("1"), [1, 0]);
  assert.deepEqual(await at("2"), [1, 1]);
  assert.deepEqual(await at("3"), [2, 0]);
  assert.deepEqual(await at("5", branchId), [2, 2]);
  assert.deepEqual(await at("1.2"), [1, 1]);
  assert.deepEqual(await at("2.0"), [2, -1]);
  assert.deepEqual(await at(null, first), [1, null]);
  assert.deepEqual(await at("1", second), [2, 0]);
  for (const bad of ["6", "2.4", "3.1", "0.1", "x", "-1", "1.", "1e3", ""]) {
    await assert.rejects(at(bad), UsageError, bad);
  }
  await assert.rejects(at("1.1", first), /the id names one request; write only the step, such as 3/);
  await assert.rejects(
    at(null, "ffffffffff"),
    /Cannot find ffffffffff: no conversation, branch or request has this id, or several ids begin with it; vis conversations list shows the ids/,
  );
  const fork = await store.fork({ queryId: second, position: 1 });
  assert.deepEqual(await at(null, fork.branchId), [2, 1]);
  await assert.rejects(at("5", fork.branchId), /Cannot find step 5: the branch has 4 steps/);
  const empty = await store.createConversation({ title: "e", channel: "cli", workspace: "/" });
  await assert.rejects(at(null, empty.conversationId), /this branch has no request yet/);
  await store.close();
});
