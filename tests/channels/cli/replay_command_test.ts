import assert from "node:assert/strict";
import { replayCommand } from "../../../src/channels/cli/replay_command.ts";
import type { OpenRequest, Session } from "../../../src/channels/channel.ts";
import { UsageError } from "../../../src/domain/errors.ts";
import { replayProvider } from "../../../src/providers/replay.ts";
import { type Engine, startEngine } from "../../helpers/engine.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { fakeIo, fakeServices } from "./_fakes.ts";

function sessionOf(engine: Engine, closed: () => void): Session {
  return {
    conversations: engine.conversations,
    workspace: "/work\x1b[2J",
    provider: "any",
    model: "any",
    database: ":memory:",
    swept: 0,
    close: () => Promise.resolve(closed()),
  };
}

/** Replays what an engine has stored, in an engine of its own. */
async function replay(engine: Engine, flags: { readonly query?: number; readonly json?: boolean } = {}) {
  const io = fakeIo();
  const requests: OpenRequest[] = [];
  let open = 0;
  const scratch: Engine[] = [];
  const services = fakeServices({
    open: async (request) => {
      requests.push(request);
      open++;
      if (!request.playback) return sessionOf(engine, () => open--);
      const own = await startEngine([], { provider: replayProvider(request.playback) });
      scratch.push(own);
      return sessionOf(own, () => open--);
    },
  });
  try {
    const id = engine.branch.conversationId;
    const code = await replayCommand(id, { services, io, flags: { json: false, ...flags } });
    return { io, code, requests, open, played: await scratch[0]?.conversations.list({ limit: 10 }) };
  } finally {
    for (const one of scratch) await one.close();
  }
}

Deno.test("replayCommand() exits with 0 where all is the same, and works in a scratch database", async () => {
  await using engine = await startEngine([replyJson("const n = 2"), replyJson("n", { final: "{{n}}" })]);
  await engine.ask("Count");
  const { io, code, requests, open } = await replay(engine);
  assert.deepEqual([code, io.out, open], [0, "query 1 same · Count\n", 0]);
  assert.deepEqual(requests.map(({ db, browse }) => [db, browse]), [[undefined, true], [":memory:", undefined]]);
  assert.equal((await engine.store.listConversations({ limit: 10 })).length, 1);
  assert.equal(io.err, "replay · 1 of 1 queries · blocks run for real in /work\\u001b[2J (recorded in /nowhere)\n");
});

Deno.test("replayCommand() lists what comes out otherwise, harmless for a terminal, and exits with 1", async () => {
  await using engine = await startEngine([
    replyJson("const at = '\\x1b[2J' + crypto.randomUUID(); at"),
    replyJson([], { final: "{{at}}" }),
    replyJson([], { final: "again" }),
  ]);
  await engine.ask("When?");
  await engine.ask("And now?");
  const { io, code } = await replay(engine);
  assert.equal(code, 1);
  const plain = io.out.replaceAll(/[0-9a-f-]{36}/g, "ID");
  assert.match(plain, /^query 1 \d differences · When\?\n {2}iteration 1, block 1: preview\n {4}- .*ID/);
  assert.match(plain, /^query 2 same · And now\?$/m);
  assert.ok(!io.out.includes("\x1b"));
});

Deno.test("replayCommand() with --query plays those before it and compares it alone, as JSON too", async () => {
  await using engine = await startEngine([
    replyJson("const n = crypto.randomUUID()", { final: "{{n}}" }),
    replyJson("n.length", { final: "{{n.length}}" }),
  ]);
  await engine.ask("One");
  await engine.ask("Two");
  const { io, code } = await replay(engine, { query: 2, json: true });
  const { same, provider, queries } = JSON.parse(io.out);
  assert.deepEqual([code, same, provider, queries.length, queries[0].query], [0, true, "replay", 1, 2]);
});

Deno.test("replayCommand() refuses a query that there is not", async () => {
  await using engine = await startEngine([replyJson([], { final: "a" })]);
  await engine.ask("One");
  await assert.rejects(
    replay(engine, { query: 2 }),
    (error) => error instanceof UsageError && /Cannot replay query 2: the conversation has 1/.test(error.message),
  );
});
