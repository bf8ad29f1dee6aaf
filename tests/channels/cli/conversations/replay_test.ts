import assert from "node:assert/strict";
import type { OpenRequest, Session } from "../../../../src/channels/channel.ts";
import { replayCommand } from "../../../../src/channels/cli/commands/replay.ts";
import { UsageError } from "../../../../src/domain/errors.ts";
import { PathMap, type ReplayPlace, type ReplayRequest } from "../../../../src/domain/records/recording.ts";
import { replayProvider } from "../../../../src/providers/replay.ts";
import { type Engine, startEngine } from "../../../helpers/engine.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

function sessionOf(engine: Engine, closed: () => void): Session {
  return {
    conversations: engine.conversations,
    workspace: "/work\x1b[2J",
    provider: "any",
    model: "any",
    database: ":memory:",
    close: () => Promise.resolve(closed()),
  };
}

const COPIED = { from: "/work\x1b[2J", files: 2, bytes: 1_234_567, leftOut: 0 };

async function replay(
  engine: Engine,
  { place: told = {}, onScratch = () => {}, ...flags }: {
    readonly query?: number;
    readonly json?: boolean;
    readonly inPlace?: boolean;
    readonly place?: Partial<ReplayPlace>;
    readonly onScratch?: (engine: Engine) => void;
  } = {},
) {
  const io = fakeIo();
  const requests: OpenRequest[] = [];
  const asked: ReplayRequest[] = [];
  const steps: string[] = [];
  let open = 0;
  const scratch: Engine[] = [];
  const services = fakeServices({
    replayPlace: (request) => {
      asked.push(request);
      const close = () => Promise.resolve(void steps.push("place closed"));
      const paths = new PathMap();
      return Promise.resolve({ workspace: "/copy", home: "/own", paths, copied: COPIED, close, ...told });
    },
    open: async (request) => {
      requests.push(request);
      open++;
      if (!request.playback) return sessionOf(engine, () => open--);
      const own = await startEngine([], { provider: replayProvider(request.playback) });
      scratch.push(own);
      onScratch(own);
      return sessionOf(own, () => {
        steps.push("session closed");
        open--;
      });
    },
  });
  try {
    const id = engine.branch.conversationId;
    const code = await replayCommand(id, { services, io, flags: { json: false, inPlace: false, ...flags } });
    return { io, code, requests, asked, steps, open, played: await scratch[0]?.conversations.list({ limit: 10 }) };
  } finally {
    for (const one of scratch) await one.close();
  }
}

Deno.test("replayCommand() exits with 0 if all results are the same, and works in a scratch database", async () => {
  await using engine = await startEngine([replyJson("const n = 2"), replyJson("n", { final: "{{n}}" })]);
  await engine.ask("Count");
  const { io, code, requests, open } = await replay(engine);
  assert.deepEqual([code, io.out, open], [0, "request 1 same · Count\n", 0]);
  assert.deepEqual(requests.map(({ db, browse }) => [db, browse]), [[undefined, true], [":memory:", undefined]]);
  assert.equal((await engine.store.listConversations({ limit: 10 })).length, 1);
  const where = "in a copy of /work\\u001b[2J (recorded in /nowhere): 2 files, 1.2 MB";
  assert.equal(io.err, `replay · 1 of 1 request · ${where}\n`);
});

Deno.test("replayCommand() works in the copy, with extensions that have a folder of their own, and closes it last", async () => {
  await using engine = await startEngine([replyJson("1", { final: "one" })]);
  await engine.ask("x");
  const { requests, asked, steps, played } = await replay(engine);
  assert.deepEqual(asked.map(({ recorded, inPlace }) => [recorded, inPlace]), [["/nowhere", false]]);
  assert.deepEqual(requests.map(({ extensionHome }) => extensionHome), [undefined, "/own"]);
  assert.equal(played?.[0]?.workspace, "/copy");
  assert.deepEqual(steps, ["session closed", "place closed"]);
});

Deno.test("replayCommand() lets the requests of plans and reviews only read again", async () => {
  await using engine = await startEngine([replyJson("1", { final: "one" }), replyJson("2", { final: "two" })]);
  const { signal } = new AbortController();
  await engine.conversations.ask(engine.branch, "Plan it", { signal, emit: () => {}, only: "plan" });
  await engine.ask("Do it");
  const modes: unknown[] = [];
  const { code } = await replay(engine, {
    onScratch: ({ conversations }) => {
      const ask = conversations.ask.bind(conversations);
      conversations.ask = (branch, text, options) => {
        modes.push([text, options.only]);
        return ask(branch, text, options);
      };
    },
  });
  assert.deepEqual([code, modes], [0, [["Plan it", "plan"], ["Do it", undefined]]]);
});

Deno.test("replayCommand() --in-place warns that blocks run for real", async () => {
  await using engine = await startEngine([replyJson("1", { final: "one" })]);
  await engine.ask("x");
  const { io, asked } = await replay(engine, { inPlace: true, place: { workspace: "/nowhere", copied: null } });
  assert.equal(asked[0]?.inPlace, true);
  assert.equal(io.err, "replay · 1 of 1 request · the code runs in /nowhere itself\n");
});

Deno.test("replayCommand() treats paths of the copy like the recorded ones", async () => {
  await using engine = await startEngine([
    replyJson("const at = '/nowhere/a.txt'; at", { final: "{{at}}" }),
  ]);
  await engine.ask("Where?");
  const copy = "/tmp/a-copy-with-a-longer-path/nowhere";
  const { io, code } = await replay(engine, { place: { workspace: copy, paths: new PathMap([["/nowhere", copy]]) } });
  assert.deepEqual([code, io.out], [0, "request 1 same · Where?\n"]);
});

Deno.test("replayCommand() removes the copy where the replay is cancelled or fails", async () => {
  await using engine = await startEngine([replyJson("1", { final: "one" })]);
  await engine.ask("x");
  for (const error of [new Error("broken"), null]) {
    const io = fakeIo();
    let closed = 0;
    const services = fakeServices({
      replayPlace: () =>
        Promise.resolve({
          ...{ workspace: "/copy", home: null, paths: new PathMap(), copied: COPIED },
          close: () => Promise.resolve(void closed++),
        }),
      open: async ({ playback }) => {
        if (!playback) return sessionOf(engine, () => {});
        if (error) throw error;
        io.interrupt();
        const own = await startEngine([], { provider: replayProvider(playback) });
        return sessionOf(own, () => void own.close());
      },
    });
    const flags = { json: false, inPlace: false };
    const running = replayCommand(engine.branch.conversationId, { services, io, flags });
    if (error) await assert.rejects(running, /broken/);
    else assert.equal(await running, 130);
    assert.equal(closed, 1);
  }
});

Deno.test("replayCommand() lists different results, harmless for a terminal, and exits with 1", async () => {
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
  assert.match(plain, /^request 1 \d differences · When\?\n {2}iteration 1, block 1: preview\n {4}- .*ID/);
  assert.match(plain, /^request 2 same · And now\?$/m);
  assert.ok(!io.out.includes("\x1b"));
});

Deno.test("replayCommand() with --query plays the earlier queries and compares this one alone, as JSON too", async () => {
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

Deno.test("replayCommand() refuses a conversation without a request", async () => {
  await using engine = await startEngine([]);
  await assert.rejects(
    replay(engine),
    (error) =>
      error instanceof UsageError && /Cannot replay .*: it has no request; send one first$/.test(error.message),
  );
});

Deno.test("replayCommand() refuses a missing query", async () => {
  await using engine = await startEngine([replyJson([], { final: "a" })]);
  await engine.ask("One");
  await assert.rejects(
    replay(engine, { query: 2 }),
    (error) =>
      error instanceof UsageError && /Cannot replay request 2: the branch has 1 request; choose 1$/.test(error.message),
  );
});
