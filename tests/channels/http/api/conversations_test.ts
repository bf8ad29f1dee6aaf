import assert from "node:assert/strict";
import type { HttpParts } from "../../../../src/channels/http/http_parts.ts";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { begun } from "../../../conformance/store/fixtures.ts";
import { allEvents, type Rig, SSE, startRig } from "../_rig.ts";

const messages = (id: string): string => `/api/v1/conversations/${id}/messages`;

async function queries(rig: Rig, id: string) {
  return (await (await rig.ask(`/api/v1/conversations/${id}/queries`)).json()).items;
}

Deno.test("retryQuery repeats a query in its place", async () => {
  await using rig = await startRig([final("bad"), final("good")]);
  const id = await rig.conversation();
  const { queryId } = await (await rig.post(messages(id), { request: "x" })).json();
  const again = await (await rig.post(`/api/v1/conversations/${id}/retry`, { queryId })).json();
  assert.equal(again.answer, "good");
  assert.deepEqual((await queries(rig, id)).map((q: { answer: string }) => q.answer), ["good"]);
  assert.equal((await rig.post(`/api/v1/conversations/${id}/retry`, { queryId: "no" })).status, 404);
});

Deno.test("retryQuery runs an inherited query in a branch of its own, and names it", async () => {
  await using rig = await startRig([final("first"), final("other"), final("other again")]);
  const id = await rig.conversation();
  const { queryId } = await (await rig.post(messages(id), { request: "x" })).json();
  const [{ branchId: original }] = await queries(rig, id);
  const fork = await (await rig.post(`/api/v1/conversations/${id}/fork`, { queryId })).json();
  const again = await rig.post(`/api/v1/conversations/${fork.branchId}/retry`, { queryId });
  const made = again.headers.get("x-vis-conversation") ?? "";
  const { queryId: other, answer } = await again.json();
  assert.equal(answer, "other");
  assert.ok(![original, fork.branchId].includes(made), "it is a third branch");
  for (const [branch, expected] of [[original, queryId], [fork.branchId, queryId], [made, other]]) {
    assert.deepEqual((await queries(rig, branch)).map((q: { queryId: string }) => q.queryId), [expected]);
  }
  const inPlace = await rig.post(`/api/v1/conversations/${made}/retry`, { queryId: other }, SSE);
  assert.equal(inPlace.headers.get("x-vis-conversation"), made, "the last query of its own branch is replaced");
  await inPlace.text();
});

Deno.test("messages: the steps and events of a query stay, whichever branch is the newest and whatever run replaced it", async () => {
  await using rig = await startRig([final("one"), final("two"), final("two again")]);
  const id = await rig.conversation();
  const { queryId: one } = await (await rig.post(messages(id), { request: "x" })).json();
  const { queryId: two } = await (await rig.post(messages(id), { request: "y" })).json();
  await (await rig.post(`/api/v1/conversations/${id}/fork`, { queryId: one })).json();
  const reads = async (queryId: string) => {
    const at = `/api/v1/conversations/${id}/queries/${queryId}`;
    const { items } = await (await rig.ask(`${at}/iterations`)).json();
    const events = await allEvents(await rig.ask(`${at}/events`, { headers: { "last-event-id": "1" } }));
    return [items.length, events.at(-1)?.event];
  };
  assert.deepEqual(await reads(two), [1, "final"], "the id of the conversation stands for the fork now");
  const again = await (await rig.post(`/api/v1/conversations/${id}/retry`, { queryId: two })).json();
  assert.deepEqual([again.answer, await reads(two), await reads(again.queryId)], [
    "two again",
    [1, "final"],
    [1, "final"],
  ]);
  const other = await rig.conversation();
  assert.equal((await rig.ask(`/api/v1/conversations/${other}/queries/${two}/iterations`)).status, 404);
});

Deno.test("a fork in the middle of a query lists its first steps only, and undoes none of the later changes", async () => {
  const asked: unknown[] = [];
  const undo: HttpParts["undo"] = (_conversation, options) => {
    if (!options.redo && !options.list) asked.push(options.cuts);
    return Promise.resolve({ changes: [], files: [] });
  };
  await using rig = await startRig([replyJson("1"), replyJson("2"), final("It is three")], { undo });
  const id = await rig.conversation();
  const { queryId } = await (await rig.post(messages(id), { request: "x" })).json();
  const [{ branchId: original }] = await queries(rig, id);
  const { branchId: fork } = await (await rig.post(`/api/v1/conversations/${id}/fork`, { queryId, iteration: 1 }))
    .json();
  const [query] = await queries(rig, fork);
  assert.deepEqual([query.reason, query.iterations, query.usage.calls], ["forked", 1, 1]);
  const steps = async (branch: string, more = ""): Promise<number> => {
    const at = `/api/v1/conversations/${branch}/queries/${queryId}/iterations${more}`;
    return (await (await rig.ask(at)).json()).items.length;
  };
  assert.deepEqual([await steps(fork), await steps(fork, "?after=1"), await steps(original)], [1, 0, 3]);
  const sent = async (branch: string): Promise<number> =>
    (await rig.ask(`/api/v1/conversations/${branch}/queries/${queryId}/iterations/2/messages`)).status;
  assert.deepEqual([await sent(fork), await sent(original)], [404, 200]);
  for (const branch of [fork, original]) await (await rig.ask(`/api/v1/conversations/${branch}/undo`)).json();
  assert.deepEqual(asked, [`${queryId}@${query.forkedAt}`, undefined]);
});

Deno.test("undo leaves changes of other branches as they are, on both sides of a fork", async () => {
  const asked: unknown[] = [];
  const undo: HttpParts["undo"] = (_conversation, options) => {
    if (!options.redo && !options.list) asked.push(options.cuts);
    return Promise.resolve({ changes: [], files: [] });
  };
  await using rig = await startRig([final("one"), final("two"), final("other two")], { undo });
  const id = await rig.conversation();
  const ask = async (branch: string): Promise<string> =>
    (await (await rig.post(messages(branch), { request: "x" })).json()).queryId;
  const shared = await ask(id);
  const [{ branchId: original }] = await queries(rig, id);
  const fork = await (await rig.post(`/api/v1/conversations/${id}/fork`, { queryId: shared })).json();
  const [own, others] = [await ask(original), await ask(fork.branchId)];
  for (const branch of [original, fork.branchId]) {
    await (await rig.ask(`/api/v1/conversations/${branch}/undo`)).json();
    await (await rig.post(`/api/v1/conversations/${branch}/undo`, { changes: ["0abc-01"] })).json();
  }
  assert.deepEqual(asked, [`${others}@0`, `${others}@0`, `${own}@0`, `${own}@0`]);
});

Deno.test("a conversation of a folder that the server does not serve can be read, but changes no file", async () => {
  let calls = 0;
  const undo: HttpParts["undo"] = () => {
    calls++;
    return Promise.resolve({ changes: [], files: [] });
  };
  await using rig = await startRig([], { undo });
  const { conversationId: id } = await begun(rig.engine.store, { workspace: "/elsewhere" });
  assert.equal((await rig.ask(`/api/v1/conversations/${id}`)).status, 200);
  const { fault } = await (await rig.ask(`/api/v1/conversations/${id}/undo`)).json();
  assert.match(fault, /this server does not serve \/.*; run vis serve there/);
  const bodies = {
    undo: {},
    prompt: { request: "x" },
    messages: { request: "x", whenBusy: "steer" },
    "approvals/q1": { decision: "workspace" },
  };
  for (const [path, body] of Object.entries(bodies)) {
    assert.equal((await rig.post(`/api/v1/conversations/${id}/${path}`, body)).status, 400, path);
  }
  for (const path of ["files?q=a&", "prompts?"]) {
    assert.equal((await rig.ask(`/api/v1/${path}conversation=${id}`)).status, 400, path);
  }
  assert.equal(calls, 0);
});

const CHANGE = { id: "0abc-01", at: 7, change: "edit", conversationId: "c", queryId: "q", paths: ["a.ts"] };
const FILES = [{ path: "a.ts", diff: "--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-1\n+2\n" }];

function recorded(): { readonly undo: NonNullable<HttpParts["undo"]>; readonly asked: unknown[] } {
  const asked: unknown[] = [];
  const state = { undone: false };
  return {
    asked,
    undo: ({ workspace }, options) => {
      if (options.list) return Promise.resolve({ changes: [{ ...CHANGE, undone: state.undone }] });
      if (options.redo) {
        const report = state.undone ? { changes: [{ ...CHANGE, at: 8 }], files: FILES } : { error: "Nothing to redo" };
        state.undone &&= options.dryRun === true;
        return Promise.resolve(report);
      }
      asked.push({ workspace, ...options });
      if (options.dryRun) {
        return Promise.resolve(state.undone ? { error: "Nothing to undo" } : { changes: [CHANGE], files: FILES });
      }
      const report = state.undone ? { changes: [], files: [] } : { changes: [CHANGE], files: FILES };
      state.undone = true;
      return Promise.resolve(report);
    },
  };
}

Deno.test("undo shows the last request's changes, undoes them once, and does nothing the second time", async () => {
  const { undo, asked } = recorded();
  await using rig = await startRig([], { undo });
  const at = `/api/v1/conversations/${await rig.conversation()}/undo`;
  const { changes, files, fault } = await (await rig.ask(at)).json();
  assert.deepEqual([changes, files, fault], [[{ id: "0abc-01", at: 7, queryId: "q", paths: ["a.ts"] }], FILES, null]);
  const body = { changes: ["0abc-01"] };
  assert.equal((await (await rig.post(at, body)).json()).files.length, 1);
  assert.deepEqual(await (await rig.post(at, body)).json(), { changes: [], files: [], folders: [], kept: [] });
  assert.equal((await (await rig.ask(at)).json()).fault, "Nothing to undo");
  assert.deepEqual(asked[1], { workspace: "/work", changes: "0abc-01" });
});

Deno.test("the preview of an undo shows a moved file at its new path", async () => {
  const files = [
    { path: "b/a.ts", diff: "--- /dev/null\n+++ b/b/a.ts\n@@ -0,0 +1 @@\n+1\n" },
    { path: "a.ts", diff: "--- a/a.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n" },
  ];
  const undo: HttpParts["undo"] = (_, { redo, list }) =>
    Promise.resolve(redo || list ? {} : { changes: [{ ...CHANGE, paths: ["a.ts", "b/a.ts"] }], files });
  await using rig = await startRig([], { undo });
  const shown = await (await rig.ask(`/api/v1/conversations/${await rig.conversation()}/undo`)).json();
  assert.deepEqual(shown.files, [{ path: "b/a.ts", diff: "--- a/a.ts\n+++ b/b/a.ts\n" }, { path: "a.ts", diff: "" }]);
});

Deno.test("a refused undo names the command that undoes the changes anyway", async () => {
  const report = { error: "Cannot undo: a.ts went into a git commit since", code: "files_changed" } as const;
  await using rig = await startRig([], { undo: () => Promise.resolve(report) });
  const at = `/api/v1/conversations/${await rig.conversation()}/undo`;
  const told = `${report.error}; vis undo --force undoes it anyway`;
  assert.equal((await (await rig.ask(at)).json()).fault, told);
  const refused = await rig.post(at, { changes: ["0abc-01"] });
  assert.deepEqual([refused.status, (await refused.json()).detail], [409, told]);
});

Deno.test("undo offers to reapply the last undo, until files are changed after it", async () => {
  const { undo } = recorded();
  await using rig = await startRig([], { undo });
  const at = `/api/v1/conversations/${await rig.conversation()}/undo`;
  const undone = async (): Promise<readonly unknown[]> => {
    const { undone, undoneQueryId, undoneQueries } = await (await rig.ask(at)).json();
    return [undone, undoneQueryId, undoneQueries];
  };
  assert.deepEqual(await undone(), [[], null, []]);
  await (await rig.post(at, { changes: ["0abc-01"] })).json();
  assert.deepEqual(await undone(), [["a.ts"], "q", ["q"]]);
  assert.equal((await (await rig.post(at, { redo: true })).json()).files.length, 1);
  assert.deepEqual(await undone(), [[], null, []]);
  const both = await rig.post(at, { changes: ["0abc-01"], redo: true });
  assert.deepEqual([both.status, (await both.json()).detail], [
    400,
    "Cannot use the body: it must have either changes or redo",
  ]);
  const later: HttpParts["undo"] = (_conversation, { redo }) =>
    Promise.resolve({ changes: [{ ...CHANGE, at: redo ? 7 : 8 }], files: FILES });
  await using changed = await startRig([], { undo: later });
  const of = `/api/v1/conversations/${await changed.conversation()}/undo`;
  assert.deepEqual((await (await changed.ask(of)).json()).undone, []);
});

Deno.test("undo names the files that prevent it, and changes the rest only on request", async () => {
  const kept = [{ path: "b.ts", reason: "got other changes since" }];
  const report = { changes: [CHANGE], files: FILES, folders: ["made"], kept };
  const error = "Cannot undo: b.ts got other changes since; no file changed";
  const refusal = { error, code: "files_changed", others: 1, kept } as const;
  const undo: HttpParts["undo"] = (_, { rest = false }) => Promise.resolve(rest ? report : refusal);
  await using rig = await startRig([], { undo });
  const at = `/api/v1/conversations/${await rig.conversation()}/undo`;
  const { kept: shown, fault } = await (await rig.ask(at)).json();
  assert.deepEqual([shown, fault], [kept, null]);
  const refused = await rig.post(at, { changes: ["0abc-01"] });
  const ways = '"rest": true undoes the other file; vis undo --force undoes all files';
  assert.deepEqual([refused.status, (await refused.json()).detail], [409, `${error}; ${ways}`]);
  const undone = await rig.post(at, { changes: ["0abc-01"], rest: true });
  const told = await undone.json();
  assert.deepEqual([undone.status, told.kept, told.folders], [200, kept, ["made"]]);
});

Deno.test("undo refuses invalid ids, changes of other conversations, and a server that changes no files", async () => {
  await using rig = await startRig([], { undo: () => Promise.resolve({ error: "Cannot undo: a.ts changed since" }) });
  const at = `/api/v1/conversations/${await rig.conversation()}/undo`;
  for (const changes of [[], ["--force"], ["1-2,3-4"]]) {
    assert.equal((await rig.post(at, { changes })).status, 400, JSON.stringify(changes));
  }
  const refused = await rig.post(at, { changes: ["0abc-01"] });
  assert.deepEqual([refused.status, (await refused.json()).detail], [409, "Cannot undo: a.ts changed since"]);
  await using none = await startRig([]);
  const of = `/api/v1/conversations/${await none.conversation()}/undo`;
  assert.match(
    (await (await none.ask(of)).json()).fault,
    /workspaces of this server are read-only; vis serve --writable allows changes$/,
  );
  const missing = await none.post(of, { changes: ["0abc-01"] });
  assert.equal(missing.status, 404);
  await missing.body?.cancel();
  await using off = await startRig([], { undo: () => Promise.resolve(null) });
  const there = `/api/v1/conversations/${await off.conversation()}/undo`;
  const why =
    "Cannot undo changes: the extension that records file changes is not loaded; vis extensions list shows why";
  assert.equal((await (await off.ask(there)).json()).fault, why);
  assert.equal((await (await off.post(there, { changes: ["0abc-01"] })).json()).detail, why);
});
