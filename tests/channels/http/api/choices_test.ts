import assert from "node:assert/strict";
import { NO_QUOTA, startRig, TOKEN } from "../_rig.ts";
import { oneToken } from "../../../../src/channels/http/tokens.ts";
import { final } from "../../../helpers/scripted_provider.ts";

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
  const facts = { contextTokens: null, price: null, reasoning: false, images: false, known: true, root: false };
  const listed = {
    provider: "scripted",
    source: "service" as const,
    detail: "",
    models: [{ name: "other", ...facts }],
  };
  await using rig = await startRig([final("done"), final("never sent")], { models: [listed] });
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

Deno.test("a message or a retry with a model that the server does not list is refused, and calls nothing", async () => {
  const facts = { contextTokens: null, price: null, reasoning: false, images: false, known: true, root: false };
  const listed = ["scripted", "house"].map((provider) => {
    return { provider, source: "service" as const, detail: "", models: [{ name: `of-${provider}`, ...facts }] };
  });
  await using rig = await startRig([], { models: listed, engine: { scripted: { otherwise: final("done") } } });
  const at = `/api/v1/conversations/${await rig.conversation()}`;
  const served = ["script", "scripted/script", "of-scripted", "scripted/of-scripted", "cost", "intelligence"];
  for (const model of served) {
    assert.equal((await rig.post(`${at}/messages`, { request: "a", model })).status, 200, model);
  }
  const queryId = (await (await rig.ask(`${at}/queries`)).json()).items[0].queryId;
  const calls = rig.engine.provider.requests.length;
  // Without its provider, a name would go to another service.
  for (const model of ["nope", "scripted/nope", "of-house", "house/of-scripted", "scripted/", "scripted/of-scriptet"]) {
    for (const [call, body] of [["messages", { request: "b" }], ["retry", { queryId }]] as const) {
      const response = await rig.post(`${at}/${call}`, { ...body, model });
      const { type, detail, errors } = await response.json();
      assert.deepEqual([response.status, type, errors], [404, "urn:vis:problem:not-found", [{
        path: "model",
        message: "Unknown",
      }]], model);
      assert.match(detail, /^Cannot find model: /);
    }
  }
  assert.equal(rig.engine.provider.requests.length, calls);
});

Deno.test("a token whose cost has a quota cannot use a model with an unknown price, of either API", async () => {
  const quota = { ...NO_QUOTA, costUsdPerDay: 1 };
  await using rig = await startRig([], { tokens: oneToken(TOKEN, quota) });
  const at = `/api/v1/conversations/${await rig.conversation()}`;
  for (
    const [path, body] of [
      [`${at}/messages`, { request: "a" }],
      ["/v1/chat/completions", { model: "vis", messages: [{ role: "user", content: "a" }] }],
      ["/v1/responses", { input: "a" }],
    ] as const
  ) {
    const response = await rig.post(path, body);
    assert.equal(response.status, 400, path);
    assert.match(await response.text(), /Cannot use script with a quota of its cost: its price is unknown/);
  }
  assert.equal(rig.engine.provider.requests.length, 0);
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
