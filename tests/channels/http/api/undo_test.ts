import assert from "node:assert/strict";
import { startRig } from "../_rig.ts";
import type { HttpParts } from "../../../../src/channels/http/env.ts";

const CHANGE = { id: "0abc-01", at: 7, change: "edit", conversationId: "c", queryId: "q", paths: ["a.ts"] };
const FILES = [{ path: "a.ts", diff: "--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-1\n+2\n" }];

/** An extension that has recorded one change. */
function recorded(): { readonly undo: NonNullable<HttpParts["undo"]>; readonly asked: unknown[] } {
  const asked: unknown[] = [];
  const state = { undone: false };
  return {
    asked,
    undo: ({ workspace }, options) => {
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

Deno.test("undo shows what the last request changed, undoes it once, and does nothing the second time", async () => {
  const { undo, asked } = recorded();
  await using rig = await startRig([], { undo });
  const at = `/api/v1/conversations/${await rig.conversation()}/undo`;
  const { changes, files, fault } = await (await rig.ask(at)).json();
  assert.deepEqual([changes, files, fault], [[{ id: "0abc-01", at: 7, queryId: "q", paths: ["a.ts"] }], FILES, null]);
  const body = { changes: ["0abc-01"] };
  assert.equal((await (await rig.post(at, body)).json()).files.length, 1);
  assert.deepEqual(await (await rig.post(at, body)).json(), { changes: [], files: [], kept: [] });
  assert.equal((await (await rig.ask(at)).json()).fault, "Nothing to undo");
  assert.deepEqual(asked[1], { workspace: "/work", changes: "0abc-01" });
});

Deno.test("undo says which files it kept, beforehand and afterwards", async () => {
  const kept = [{ path: "b.ts", reason: "changed since by someone else" }];
  const report = { changes: [CHANGE], files: FILES, kept };
  await using rig = await startRig([], { undo: () => Promise.resolve(report) });
  const at = `/api/v1/conversations/${await rig.conversation()}/undo`;
  assert.deepEqual((await (await rig.ask(at)).json()).kept, kept);
  const undone = await rig.post(at, { changes: ["0abc-01"] });
  assert.deepEqual([undone.status, (await undone.json()).kept], [200, kept]);
});

Deno.test("undo refuses what is no id, changes of others, and a server that changes no files", async () => {
  await using rig = await startRig([], { undo: () => Promise.resolve({ error: "Cannot undo: a.ts changed since" }) });
  const at = `/api/v1/conversations/${await rig.conversation()}/undo`;
  for (const changes of [[], ["--force"], ["1-2,3-4"]]) {
    assert.equal((await rig.post(at, { changes })).status, 400, JSON.stringify(changes));
  }
  const refused = await rig.post(at, { changes: ["0abc-01"] });
  assert.deepEqual([refused.status, (await refused.json()).detail], [409, "Cannot undo: a.ts changed since"]);
  await using none = await startRig([]);
  const of = `/api/v1/conversations/${await none.conversation()}/undo`;
  assert.match((await (await none.ask(of)).json()).fault, /records no file changes$/);
  const missing = await none.post(of, { changes: ["0abc-01"] });
  assert.equal(missing.status, 404);
  await missing.body?.cancel();
});
