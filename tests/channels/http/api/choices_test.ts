import assert from "node:assert/strict";
import { final } from "../../../helpers/scripted_provider.ts";
import { startRig } from "../_rig.ts";

Deno.test("a conversation begins in a workspace of the server, and in no other", async () => {
  await using rig = await startRig([], { workspaces: ["/other"] });
  const { workspaces } = await (await rig.ask("/api/v1")).json();
  assert.deepEqual(workspaces, ["/work", "/other"]);
  const made = await (await rig.post("/api/v1/conversations", { workspace: "/other" })).json();
  assert.equal(made.workspace, "/other");
  const refused = await rig.post("/api/v1/conversations", { workspace: "/etc" });
  assert.equal(refused.status, 400);
  assert.match((await refused.json()).detail, /^Cannot use workspace \/etc: it is not one of the server's$/);
});

Deno.test("a message names the model that serves it, and may lower the limits of the server", async () => {
  await using rig = await startRig([final("done"), final("never sent")]);
  const at = `/api/v1/conversations/${await rig.conversation()}`;
  const stream = { accept: "text/event-stream" };
  const events = await (await rig.post(`${at}/messages`, { request: "a", model: "scripted/other" }, stream)).text();
  assert.match(events, /"type":"started"[^\n]*"model":"other"/);
  for (const wrong of [{ maxCostUsd: 0 }, { timeoutMs: 1.5 }, { model: "" }]) {
    assert.equal((await rig.post(`${at}/messages`, { request: "b", ...wrong })).status, 400, JSON.stringify(wrong));
  }
  const result = await (await rig.post(`${at}/messages`, { request: "c", timeoutMs: 1 })).json();
  assert.equal(result.reason, "limit_time");
});

Deno.test("answers come as trees without markup when they are asked for", async () => {
  await using rig = await startRig([final("- <b>one</b>"), final("plain"), final(`# ${"a".repeat(31_000)}`)]);
  const at = `/api/v1/conversations/${await rig.conversation()}`;
  for (const request of ["1", "2", "3"]) await (await rig.post(`${at}/messages`, { request })).text();
  const { items } = await (await rig.ask(`${at}/queries?answers=tree`)).json();
  const text = { kind: "text", text: "<b>one</b>" };
  assert.deepEqual(items[0].answerTree[0].items[0].blocks, [{ kind: "paragraph", inlines: [text] }]);
  assert.deepEqual([items[1].answerTree, items[2].answerTree], [null, null]);
  const [plain] = (await (await rig.ask(`${at}/queries?limit=1`)).json()).items;
  assert.ok(!("answerTree" in plain));
});
