import assert from "node:assert/strict";
import {
  deleteConversation,
  forkConversation,
  printConversations,
  renameConversation,
} from "../../../../src/channels/cli/commands/conversations.ts";
import { showConversation } from "../../../../src/channels/cli/commands/show_conversation.ts";
import { retryCommand, runCommand } from "../../../../src/channels/cli/commands/run.ts";
import { UsageError } from "../../../../src/domain/errors.ts";
import { openStore } from "../../../../src/persistence/open_store.ts";
import { startEngine } from "../../../helpers/engine.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { engineServices } from "../_engine_services.ts";

const QUIET = { output: "text", quiet: true, verbose: false } as const;

Deno.test("forkConversation() and runCommand() with --fork continue from an iteration, shown as a tree", async () => {
  await using engine = await startEngine([
    replyJson("let n = 1"),
    replyJson("n = 2", { final: "two: {{n}}" }),
    replyJson("n += 10", { final: "forked: {{n}}" }),
    replyJson("n += 100", { final: "newest: {{n}}" }),
  ]);
  await engine.ask("first");
  const id = engine.branch.conversationId;
  const { io, services } = engineServices(engine);
  await forkConversation(id, { services, io, flags: { at: "1.1" } });
  const branchId = io.out.trim();
  const [, made] = await engine.conversations.branches(id);
  assert.match(io.err, /^Files stay as they are\. Continue the branch with: vis run --conversation /);
  assert.deepEqual([made?.branchId, made?.fork?.position], [branchId, 0]);
  const run = engineServices(engine);
  assert.equal(await runCommand("go", { ...run, flags: { ...QUIET, quiet: false, fork: `${id.slice(0, 23)}@1` } }), 0);
  assert.match(run.io.err, /^vis · a new branch of the conversation; files stay as they are$/m);
  assert.equal(run.io.out, "forked: 11\n");
  const on = engineServices(engine);
  await runCommand("on", { ...on, flags: { ...QUIET, continue: true } });
  assert.equal(on.io.out, "newest: 111\n");
  const list = engineServices(engine);
  await printConversations({ ...list, flags: { limit: 5, output: "text" } });
  const [line = "", root = "", ...branches] = list.io.out.trimEnd().split("\n");
  assert.match(line, /3 requests {2}test {2}\/nowhere$/);
  assert.match(root, /^ {2}└ [0-9a-f-]{36} {2}first branch · 1 request · test$/);
  assert.equal(branches.length, 2);
  assert.match(branches[1] ?? "", /^ {4}└ .* {2}from step 1 of request 1 · 2 requests · used last$/);
  const show = engineServices(engine);
  await showConversation(branchId, { ...show, flags: { output: "text" } });
  assert.match(show.io.out, new RegExp(`├ ${branchId} .* · shown here`));
  assert.ok(!show.io.out.includes("## Iteration 2"), "what came after the fork is not shown");
});

Deno.test("runCommand() refuses two places, and a fork of a missing place, before anything is stored", async () => {
  await using engine = await startEngine([]);
  const { io, services } = engineServices(engine);
  const run = (flags: object) => runCommand("x", { services, io, flags: { ...QUIET, ...flags } });
  await assert.rejects(run({ fork: "a", conversation: "b" }), /use only one of --conversation, --fork/);
  await assert.rejects(run({ fork: "ffffffff@2" }), UsageError);
  await assert.rejects(run({ fork: `${engine.branch.conversationId}@1` }), /this branch has no request yet/);
  assert.equal((await engine.conversations.branches(engine.branch.conversationId)).length, 1);
});

Deno.test("retryCommand() runs the last query again, or another in a fork, and shows it as run does", async () => {
  await using engine = await startEngine([
    replyJson("let n = 1", { final: "one" }),
    replyJson("n += 1", { final: "two" }),
    replyJson("n += 10", { final: "{{n}}: again" }),
    replyJson("let n = 5", { final: "{{n}}: in a fork" }),
  ]);
  await engine.ask("first");
  await engine.ask("second");
  const id = engine.branch.conversationId;
  const last = engineServices(engine, { notes: ["the mock is at x"] });
  assert.equal(await retryCommand(id, { ...last, flags: { ...QUIET, quiet: false } }), 0);
  assert.equal(last.io.out, "11: again\n");
  assert.equal(last.requests.at(-1)?.oneRequest, true);
  assert.match(last.io.err, /retrying request 2 of [0-9a-f-]{13}\nsecond\nvis · the mock is at x\n/);
  assert.equal((await engine.conversations.branches(id)).length, 1);
  const first = engineServices(engine, { notes: ["the mock is at x"], problems: ["Cannot read /gone"] });
  await retryCommand(id, { ...first, flags: { ...QUIET, query: 1, output: "json" } });
  assert.equal(first.io.err, "vis · Cannot read /gone\n");
  assert.equal(JSON.parse(first.io.out).answer, "5: in a fork");
  assert.equal((await engine.conversations.branches(id)).length, 2);
  await assert.rejects(
    retryCommand(id, { ...first, flags: { ...QUIET, query: 7 } }),
    /Cannot retry request 7: the branch has 1 request; choose 1$/,
  );
});

Deno.test("renameConversation() and deleteConversation() report their work; no conversation is deleted without --yes", async () => {
  await using engine = await startEngine([replyJson([], { final: "Yes" })]);
  await engine.ask("x");
  const id = engine.branch.conversationId;
  const { io, services, requests } = engineServices(engine);
  await renameConversation(id, ["new\x1b[2J", "title"], { services, io, flags: {} });
  assert.equal(io.err, "new\\u001b[2J title\n");
  const remove = (yes: boolean) => deleteConversation(id, { services, io, flags: { yes } });
  await assert.rejects(
    remove(false),
    /1 request, 1 branch\): --yes is missing; add it to confirm, because you cannot undo/,
  );
  assert.equal((await engine.conversations.list({ limit: 5 })).length, 1);
  assert.equal(await remove(true), 0);
  assert.deepEqual(await engine.conversations.list({ limit: 5 }), []);
  assert.ok(requests.every(({ browse }) => browse === true));
});

Deno.test("renameConversation() renames the branch that was used last, which lists of conversations show", async () => {
  let clock = 0;
  const replies = ["First", "Fork", "Root"].map((final) => replyJson([], { final }));
  const store = await openStore({ path: ":memory:", now: () => ++clock });
  await using engine = await startEngine(replies, { store });
  await engine.ask("x");
  const { conversationId: id, branchId: root } = engine.branch;
  const fork = await engine.conversations.fork({ queryId: (await engine.ask("y")).queryId, position: null });
  await engine.ask("z");
  const { io, services } = engineServices(engine);
  await renameConversation(id, ["the", "root"], { services, io, flags: {} });
  await renameConversation(fork.branchId, ["the", "fork"], { services, io, flags: {} });
  const [listed] = await engine.conversations.list({ limit: 5 });
  assert.deepEqual([listed?.title, listed?.branchId], ["the root", root]);
});

Deno.test("deleteConversation() explains how the space of a file is freed, but not for a server", async () => {
  await using engine = await startEngine([]);
  for (
    const [database, end] of [["/x/vis.db", "1 branch); vis db vacuum returns its space to the disk\n"], [
      "postgres://h/vis",
      "1 branch)\n",
    ]] as const
  ) {
    const workspace = "/nowhere";
    const { conversationId } = await engine.conversations.create({ title: "x", channel: "cli", workspace });
    const { io, services } = engineServices(engine);
    const open: typeof services.open = async (request) => ({ ...await services.open(request), database });
    await deleteConversation(conversationId, { services: { ...services, open }, io, flags: { yes: true } });
    assert.ok(io.err.endsWith(end), io.err);
  }
});

Deno.test("deleteConversation() refuses a conversation with a running query", async () => {
  await using engine = await startEngine([{ text: "", delayMs: 60_000 }]);
  const stop = new AbortController();
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const running = engine.conversations.ask(engine.branch, "x", {
    signal: stop.signal,
    emit: ({ type }) => type === "started" && resolve(),
  });
  await started;
  const { io, services } = engineServices(engine);
  const id = engine.branch.conversationId;
  await assert.rejects(deleteConversation(id, { services, io, flags: { yes: true } }), { name: "BusyError" });
  stop.abort();
  await running;
  assert.equal((await engine.conversations.list({ limit: 5 })).length, 1);
});
