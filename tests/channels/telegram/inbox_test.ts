import assert from "node:assert/strict";
import { Inbox, type PendingMessage } from "../../../src/channels/telegram/inbox.ts";
import type { StateStore } from "../../../src/domain/records/extension_state.ts";
import { openStore } from "../../../src/persistence/open_store.ts";

const DAY = 86_400_000;

function entry(updateId: number, text = "x"): PendingMessage {
  const chat = { id: 7, thread: null, group: false };
  const from = { id: 7, name: "A" };
  return { message: { updateId, chat, messageId: 1, from, text, command: null, files: [], album: null } };
}

async function withStates(work: (states: StateStore) => Promise<void>): Promise<void> {
  const store = await openStore({ path: ":memory:" });
  try {
    await work(store.states);
  } finally {
    await store.close();
  }
}

/** Returns the same states, which accept only this many changes. */
function cutAfter(states: StateStore, changes: number): StateStore {
  let left = changes;
  const change = <A extends unknown[], R>(run: (...args: A) => Promise<R>) => (...args: A): Promise<R> =>
    left-- > 0 ? run(...args) : Promise.reject(new Error("killed"));
  return {
    get: (...args) => states.get(...args),
    list: (...args) => states.list(...args),
    history: (...args) => states.history(...args),
    query: (...args) => states.query(...args),
    put: change((...args) => states.put(...args)),
    delete: change((...args) => states.delete(...args)),
  };
}

Deno.test("Inbox.accept() keeps a batch whole or not at all, wherever it is cut", async () => {
  for (let cut = 0; cut < 6; cut++) {
    await withStates(async (states) => {
      const first = new Inbox(cutAfter(states, cut), { botId: "1", now: () => 0 });
      const done = await first.accept([7, 8, 9], [entry(7), entry(8), entry(9)]).then(() => true, () => false);
      assert.equal(done, cut === 5);
      const second = new Inbox(states, { botId: "1", now: () => 0 });
      const kept = (await second.entries()).map(({ message }) => message.updateId);
      assert.deepEqual([await second.mark(), kept], cut === 0 ? [null, []] : [9, [7, 8, 9]], `cut ${cut}`);
      // Answered updates do not return.
      for (const one of await second.entries()) await second.remove(one);
      assert.deepEqual(await new Inbox(states, { botId: "1", now: () => 0 }).entries(), []);
    });
  }
});

Deno.test("Inbox.mark() is forgotten after days: Telegram restarts its numbers after a week without updates", () =>
  withStates(async (states) => {
    const times = { now: 1_000 };
    const inbox = new Inbox(states, { botId: "1", now: () => times.now });
    await inbox.accept([50], []);
    times.now += 2 * DAY;
    assert.equal(await inbox.mark(), 50);
    times.now += 2 * DAY;
    assert.equal(await inbox.mark(), null);
  }));

Deno.test("Inbox keeps bots apart, and lists updates in the order of their numbers", () =>
  withStates(async (states) => {
    const one = new Inbox(states, { botId: "1", now: () => 0 });
    const other = new Inbox(states, { botId: "2", now: () => 0 });
    await one.accept([1000, 999, 5], [entry(1000), entry(999), entry(5)]);
    assert.deepEqual((await one.entries()).map(({ message }) => message.updateId), [5, 999, 1000]);
    assert.deepEqual([await other.entries(), await other.mark(), await other.known([5])], [[], null, []]);
    assert.deepEqual(await one.known([4, 5, 1000, 1001]), [5, 1000]);
  }));

Deno.test("Inbox.moveChats() moves a group with its topics, and no other group", () =>
  withStates(async (states) => {
    const inbox = new Inbox(states, { botId: "1", now: () => 0 });
    for (const key of ["-40", "-40:7", "-401"]) await inbox.setChat(key, { branchId: key, model: null });
    await inbox.moveChats(-40, -100);
    const of = async (key: string) => (await inbox.chat(key)).branchId;
    assert.deepEqual(await Promise.all(["-40", "-40:7", "-401", "-100", "-100:7"].map(of)), [
      null,
      null,
      "-401",
      "-40",
      "-40:7",
    ]);
  }));
