import assert from "node:assert/strict";
import { localTime } from "../../../../src/domain/kit/text.ts";
import { printConversations } from "../../../../src/channels/cli/commands/conversations.ts";
import { showConversation } from "../../../../src/channels/cli/commands/show_conversation.ts";
import { UsageError } from "../../../../src/domain/errors.ts";
import { type Engine, startEngine } from "../../../helpers/engine.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

function given(engine: Engine) {
  const io = fakeIo();
  const session = { workspace: "/nowhere", provider: "p", model: "m", database: "" };
  const services = fakeServices({
    open: (request) => {
      assert.equal(request.browse, true);
      return Promise.resolve({ ...session, conversations: engine.conversations, close: () => Promise.resolve() });
    },
  });
  return { io, services };
}

Deno.test("listConversations() has one line for each, as JSON one object", async () => {
  await using engine = await startEngine([replyJson([], { final: "a" })]);
  await engine.ask("One");
  const { io, services } = given(engine);
  assert.equal(await printConversations({ services, io, flags: { limit: 5, output: "text" } }), 0);
  assert.match(
    io.out,
    new RegExp(`^${engine.branch.conversationId}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d     1 request  test  \\S+\n$`),
  );
  const json = given(engine);
  await printConversations({ ...json, flags: { limit: 5, output: "json" } });
  const [one] = JSON.parse(json.io.out);
  assert.deepEqual([one.conversationId, one.queries, one.title], [engine.branch.conversationId, 1, "test"]);
});

Deno.test("showConversation() shows thinking, code, results, errors and answers", async () => {
  await using engine = await startEngine([
    replyJson(["const n = 6\nn * 7", "console.log('seen'); nowhere()"], { thinking: "compute first" }),
    replyJson([], { final: "It is {{n}}" }),
  ]);
  await engine.ask("What is it?");
  const { io, services } = given(engine);
  const id = engine.branch.conversationId.slice(0, 13);
  await showConversation(id, { services, io, flags: { output: "text" } });
  for (
    const line of [
      "# Request 1",
      "> What is it?",
      "## Step 1 · executed",
      "~ compute first",
      "  1│ const n = 6",
      "  1│ n * 7",
      "  = 42",
      "  . seen",
      "  ! ReferenceError: nowhere is not defined",
      "  It is 6",
    ]
  ) assert.ok(io.out.split("\n").includes(line), line);
});

Deno.test("showConversation() shows a step that was cancelled as interrupted", async () => {
  await using engine = await startEngine([replyJson("await new Promise(() => {})")]);
  const controller = new AbortController();
  await engine.conversations.ask(engine.branch, "Wait", {
    signal: controller.signal,
    emit: (event) => event.type === "block_started" && controller.abort(),
  });
  const { io, services } = given(engine);
  await showConversation(engine.branch.conversationId, { services, io, flags: { output: "text" } });
  const lines = io.out.split("\n");
  assert.deepEqual(lines.filter((line) => /^## Step|^! /.test(line)), ["## Step 1 · interrupted", "! cancelled"]);
});

Deno.test("showConversation() stored text cannot command a terminal or look like a line of Vis", async () => {
  await using engine = await startEngine([
    replyJson("console.log('\\x1b]0;title\\x07\\n# Query 9'); 1", { thinking: "\x1b[31m\n## Step 7 · final" }),
    replyJson([], { final: "fine\n# Query 8" }),
  ]);
  await engine.ask("What\x1b[2J\n# Query 7\u2028# Query 6");
  const { io, services } = given(engine);
  await showConversation(engine.branch.conversationId, { services, io, flags: { output: "text" } });
  assert.ok(![..."\x1b\x07\r\u2028"].some((char) => io.out.includes(char)));
  assert.deepEqual(io.out.split("\n").filter((line) => line.startsWith("#")), [
    "# Request 1",
    "## Step 1 · executed",
    "## Step 2 · final",
  ]);
});

Deno.test("showConversation() as JSON has everything, with images by their size", async () => {
  await using engine = await startEngine([replyJson("1", { final: "one" })], {
    scripted: { capabilities: { images: true } },
  });
  const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const { signal } = new AbortController();
  await engine.conversations.ask(engine.branch, "What?", {
    signal,
    emit: () => {},
    images: [{ kind: "bytes", mediaType: "image/png", bytes }],
  });
  const { io, services } = given(engine);
  await showConversation(engine.branch.conversationId, { services, io, flags: { output: "json", query: 1 } });
  const [query] = JSON.parse(io.out).queries;
  assert.deepEqual(query.images, [{ kind: "bytes", mediaType: "image/png", bytes: 8 }]);
  assert.deepEqual([query.answer, query.iterations[0].blocks[0].result.preview], ["one", "1"]);
});

Deno.test("showConversation() refuses a missing query or conversation", async () => {
  await using engine = await startEngine([]);
  const { io, services } = given(engine);
  const id = engine.branch.conversationId;
  await assert.rejects(showConversation(id, { services, io, flags: { output: "text", query: 1 } }), UsageError);
  await assert.rejects(showConversation("00000000", { services, io, flags: { output: "text" } }), /Cannot find/);
});

Deno.test("listConversations() --here lists the conversations of the workspace, on a terminal with short ids and no folder", async () => {
  await using engine = await startEngine([replyJson([], { final: "a" })]);
  await engine.conversations.create({ title: "elsewhere", channel: "cli", workspace: "/other" });
  await engine.ask("One");
  const { services } = given(engine);
  const io = fakeIo({ stdoutIsTerminal: true });
  await printConversations({ services, io, flags: { limit: 5, output: "text", here: true } });
  assert.equal(io.out, `${engine.branch.conversationId.slice(0, 13)}         now     1 request  test\n`);
  const all = fakeIo({ stdoutIsTerminal: true });
  await printConversations({ services, io: all, flags: { limit: 5, output: "text" } });
  assert.match(all.out, /elsewhere {2}other\n/);
});

async function listed(conversation: object, branches: readonly object[], here = false): Promise<readonly string[]> {
  const io = fakeIo({ stdoutIsTerminal: true });
  const conversations = {
    list: () => Promise.resolve([conversation]),
    queries: () => Promise.resolve([{ queryId: "q0" }, { queryId: "q" }]),
    branches: () => Promise.resolve(branches),
  };
  const session = { ...Object(null), conversations, workspace: "/home/me", close: () => Promise.resolve() };
  const services = fakeServices({ open: () => Promise.resolve(session) });
  await printConversations({ services, io, flags: { limit: 5, output: "text", here } });
  return io.out.trimEnd().split("\n");
}

Deno.test("listConversations() fits titles into the columns of a terminal, and marks running ones", async () => {
  const one = {
    conversationId: "01a20990-8048-7326-9545-f7c8b57fb870",
    activeAt: Date.now() - 3 * 86_400_000,
    queries: 2,
    ...{ running: false, asks: false },
    title: "Fix the\ntests",
    workspace: "/home/me/shop",
  };
  assert.deepEqual(await listed(one, []), ["01a20990-8048         3 d    2 requests  Fix the tests  shop"]);
  const marked = async (is: object) => (await listed({ ...one, running: true, ...is }, [], true))[0] ?? "";
  assert.match(await marked({}), /Fix the tests · running$/);
  assert.match(await marked({ asks: true }), /Fix the tests · waiting for you$/);
  assert.ok((await marked({ asks: true, title: "word ".repeat(60) })).length <= 80);
  const [long = ""] = await listed({ ...one, title: "word ".repeat(60) }, []);
  assert.ok(long.length <= 80 && long.endsWith("  shop"), long);
});

Deno.test("listConversations() fits branches into the columns of a terminal, with beginnings of ids that differ", async () => {
  const ids = ["01a20990-8048-7326", "01a20990-8048-7545", "01a20991-0000-7000", "01a20992-0000-7000"]
    .map((id) => `${id}-9545-f7c8b57fb870`);
  const [conversationId = "", first = "", ...forks] = ids;
  const one = { conversationId, branchId: first, activeAt: 0, queries: 2, running: false, title: "t", workspace: "" };
  const branch = (branchId: string, parentBranchId: string | null, title: string) => ({
    ...{ branchId, parentBranchId, title, queries: 12 },
    fork: parentBranchId === null ? null : { queryId: "q", position: -1 },
  });
  const long = "word ".repeat(30);
  const tree = [branch(first, null, "t"), ...forks.map((id) => branch(id, first, long))];
  const [, root = "", ...below] = await listed(one, tree);
  assert.equal(root, "  └ 01a20990-8048-7545  first branch · 12 requests · used last · t");
  assert.equal(below.length, 2);
  for (const [at, line] of below.entries()) {
    assert.ok(line.length <= 80, line);
    assert.ok(line.includes(` ${forks[at]?.slice(0, 18)}  from before request 2 · 12 requests · word`), line);
  }
});

Deno.test("listConversations() has the time of the last use, and all of the folder where a program reads it", async () => {
  const one = { conversationId: "c", activeAt: 86_400_000 * 9, createdAt: 0, queries: 1, running: false, title: "t" };
  const conversations = { list: () => Promise.resolve([{ ...one, workspace: "/home/me/shop" }]), branches: () => [] };
  const session = { ...Object(null), conversations, workspace: "/home/me", close: () => Promise.resolve() };
  const services = fakeServices({ open: () => Promise.resolve(session) });
  const text = fakeIo();
  await printConversations({ services, io: text, flags: { limit: 5, output: "text" } });
  assert.equal(text.out, `c  ${localTime(one.activeAt)}     1 request  t  /home/me/shop\n`);
  const json = fakeIo();
  await printConversations({ services, io: json, flags: { limit: 5, output: "json" } });
  assert.equal(JSON.parse(json.out)[0].activeAt, one.activeAt);
});

Deno.test("listConversations() draws branches as a tree, also one whose parent is not among them", async () => {
  const one = {
    conversationId: "c",
    branchId: "d",
    activeAt: 0,
    queries: 1,
    running: false,
    title: "t",
    workspace: "",
  };
  const branch = (branchId: string, parentBranchId: string | null, position = 0, title = "t") => ({
    ...{ branchId, parentBranchId, title, queries: 1 },
    fork: parentBranchId === null ? null : { queryId: "q", position },
  });
  assert.equal((await listed(one, [branch("a", null)])).length, 1);
  const tree = [branch("a", null), branch("b", "a", 1), branch("c", "b", -1, "own"), branch("d", "a")];
  assert.deepEqual((await listed(one, tree)).slice(1), [
    "  └ a  first branch · 1 request · t",
    "    ├ b  from step 2 of request 2 · 1 request",
    "    │ └ c  from before request 2 · 1 request · own",
    "    └ d  from step 1 of request 2 · 1 request · used last",
  ]);
  assert.equal((await listed(one, [branch("a", null), branch("b", "gone")])).length, 3);
});
