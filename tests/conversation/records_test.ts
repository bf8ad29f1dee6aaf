import assert from "node:assert/strict";
import { ApprovalFolder } from "../../src/app/session/approval_folder.ts";
import { UsageError } from "../../src/domain/errors.ts";
import { begun } from "../conformance/store/fixtures.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { archiveTextOf } from "../helpers/archive_of.ts";
import { withFolder } from "../helpers/with_folder.ts";

const trust = (): Promise<void> => Promise.resolve();
const OPTIONS = { signal: new AbortController().signal, emit: () => {} };

Deno.test("Records.import() brings a conversation that continues with its variables, functions and history", async () => {
  let text = "";
  {
    await using engine = await startEngine([
      replyJson("const rows = new Map([['a', 1]]); function twice(n: number) { return 2 * n }"),
      replyJson("rows.set('b', 2)", { final: "made" }),
    ]);
    await engine.ask("make rows");
    text = await archiveTextOf(engine.store, engine.branch.conversationId);
  }
  await using engine = await startEngine([
    replyJson("const seen = `${[...rows].join(' ')} ${twice(21)}`; rows.set('c', 3)", { final: "{{seen}}" }),
  ]);
  const { records } = engine.conversations;
  const { conversationId } = await records.import(text, { workspace: "/nowhere", trust });
  const branch = await engine.conversations.byId(conversationId);
  assert.equal((await engine.conversations.ask(branch, "what was made?", OPTIONS)).answer, "a,1 b,2 42");
  assert.match(engine.context(0), /made/);
  const versions = await records.versions(branch, { name: "rows", newest: 9 });
  assert.deepEqual(versions.map(({ version, shown }) => [version, shown?.value]), [
    [1, new Map([["a", 1]])],
    [2, new Map([["a", 1], ["b", 2]])],
    [3, new Map([["a", 1], ["b", 2], ["c", 3]])],
  ]);
  assert.deepEqual((await records.diff(branch, { name: "rows", from: 1, to: 3 })).changes?.map(({ path }) => path), [
    '.get("b")',
    '.get("c")',
  ]);
  await assert.rejects(records.diff(branch, { name: "rows", from: 1, to: 9 }), UsageError);
  await assert.rejects(records.versions(branch, { name: "none", newest: 1 }), /Cannot find variable none/);
});

Deno.test("Records.import() of a bad file stores nothing", async () => {
  await using engine = await startEngine([]);
  const before = (await engine.conversations.list({ limit: 9 })).length;
  await assert.rejects(engine.conversations.records.import("{}", { workspace: "/w", trust }), UsageError);
  assert.equal((await engine.conversations.list({ limit: 9 })).length, before);
});

Deno.test("Records.rename() keeps a title to a line and refuses none", async () => {
  await using engine = await startEngine([]);
  const { records } = engine.conversations;
  assert.equal(await records.rename(engine.branch, " two\nlines "), "two lines");
  assert.equal((await engine.conversations.byId(engine.branch.conversationId)).title, "two lines");
  await assert.rejects(records.rename(engine.branch, " \n"), /the new title is empty; write a title/);
});

Deno.test("Conversations.delete() ends its child, and nothing of it is found again", async () => {
  await using engine = await startEngine([replyJson("const a = 1", { final: "done here" })]);
  await engine.ask("x");
  await engine.conversations.delete(engine.branch);
  await assert.rejects(engine.conversations.byId(engine.branch.conversationId), /Cannot find conversation/);
});

Deno.test("Conversations.delete() removes the lasting approvals of the conversation, and keeps others", async () => {
  await withFolder(async (home) => {
    const approvalRules = new ApprovalFolder(home);
    await using engine = await startEngine([], { approvalRules });
    const { conversationId, tenant, workspace } = engine.branch;
    const rule = { tenant, workspace, extension: "fs", scope: "the secret file .env" };
    for (const id of [conversationId, "other", null]) await approvalRules.add({ ...rule, conversationId: id });
    await engine.conversations.delete(engine.branch);
    const left = (await approvalRules.all()).map((one) => one.conversationId);
    assert.deepEqual(left.toSorted(), ["other", null].toSorted());
  });
});

Deno.test("Conversations.retry() of a query that a fork inherits leaves the branch it comes from alone", async () => {
  await using engine = await startEngine([
    replyJson("let n = 1", { final: "first answer" }),
    replyJson("let n = 2", { final: "another answer" }),
  ]);
  const { queryId } = await engine.ask("x");
  const { conversations, branch } = engine;
  const fork = await conversations.fork({ queryId, position: null });
  assert.equal((await conversations.retry(queryId, { ...OPTIONS, seenFrom: fork })).answer, "another answer");
  assert.deepEqual((await conversations.queries(branch)).map(({ answer }) => answer), ["first answer"]);
  assert.equal((await conversations.branches(branch.conversationId)).length, 3);
});

Deno.test("Records.follow() moves a conversation whose folder is gone, and says so", async () => {
  await withFolder(async (folder) => {
    await using engine = await startEngine([]);
    const { conversations, store } = engine, notes: string[] = [];
    const place = { workspace: "/here", isChosen: false, note: (text: string) => void notes.push(text) };
    const kept = await store.createConversation({ title: "x", channel: "cli", workspace: folder });
    assert.equal((await conversations.records.follow(kept, place)).workspace, folder);
    const busy = await begun(store, { workspace: `${folder}/gone` });
    assert.equal((await conversations.records.follow(busy, place)).workspace, `${folder}/gone`, "a request runs");
    const moved = await store.createConversation({ title: "y", channel: "cli", workspace: `${folder}/gone` });
    assert.equal((await conversations.records.follow(moved, place)).workspace, "/here");
    assert.equal((await conversations.byId(moved.conversationId)).workspace, "/here");
    assert.equal((await conversations.records.follow(kept, { ...place, isChosen: true })).workspace, "/here");
    assert.deepEqual(notes, [
      `The conversation moved to /here from ${folder}/gone, which is gone`,
      `The conversation moved to /here from ${folder}`,
    ]);
  });
});
