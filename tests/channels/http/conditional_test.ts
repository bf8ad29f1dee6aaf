import assert from "node:assert/strict";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { type Rig, startRig } from "./_rig.ts";

const JSON_TYPE = { "content-type": "application/json" };

async function tagOf(rig: Rig, path: string): Promise<string> {
  const response = await rig.ask(path);
  await response.body?.cancel();
  assert.equal(response.status, 200, path);
  return response.headers.get("etag") ?? "";
}

const rename = (rig: Rig, path: string, { title, match }: { title: string; match?: string }): Promise<Response> =>
  rig.ask(path, {
    method: "PATCH",
    headers: { ...JSON_TYPE, ...(match === undefined ? {} : { "if-match": match }) },
    body: JSON.stringify({ title }),
  });

Deno.test("conditional() answers 304 while nothing has changed, on every way to read", async () => {
  await using rig = await startRig([
    replyJson("let kept = 1"),
    replyJson([], { final: "one" }),
    replyJson([], { final: "two" }),
  ]);
  const at = `/api/v1/conversations/${await rig.conversation()}`;
  const { queryId } = await (await rig.post(`${at}/messages`, { request: "x" })).json();
  const changing = [at, `${at}/queries`, `${at}/variables/$query`, "/api/v1/conversations"];
  const steady = [
    "/api/v1",
    `${at}/queries/${queryId}/iterations`,
    `${at}/variables/kept`,
    "/api/v1/extensions",
    "/v1/models",
  ];
  const tags = new Map<string, string>();
  for (const path of [...changing, ...steady]) {
    tags.set(path, await tagOf(rig, path));
    for (const known of [tags.get(path) ?? "", `"other", W/${tags.get(path)}`, "*"]) {
      const again = await rig.ask(path, { headers: { "if-none-match": known } });
      assert.deepEqual([again.status, await again.text(), again.headers.get("etag")], [304, "", tags.get(path)], path);
    }
    const other = await rig.ask(path, { headers: { "if-none-match": '"other"' } });
    assert.equal(other.status, 200);
    await other.body?.cancel();
  }
  await (await rig.post(`${at}/messages`, { request: "y" })).text();
  for (const path of changing) assert.notEqual(await tagOf(rig, path), tags.get(path), path);
  for (const path of steady) assert.equal(await tagOf(rig, path), tags.get(path), path);
});

Deno.test("Changes rename and delete a conversation only if If-Match holds", async () => {
  await using rig = await startRig([replyJson([], { final: "one" })]);
  const at = `/api/v1/conversations/${await rig.conversation()}`;
  const seen = await tagOf(rig, at);
  const renamed = await rename(rig, at, { title: "New", match: seen });
  assert.deepEqual([renamed.status, (await renamed.json()).title], [200, "New"]);
  assert.equal(renamed.headers.get("etag"), await tagOf(rig, at), "the tag of what it is now");
  const late = await rename(rig, at, { title: "Lost", match: seen });
  assert.deepEqual([late.status, (await late.json()).type], [412, "urn:vis:problem:changed"]);
  assert.equal(late.headers.get("etag"), await tagOf(rig, at));
  const fresh = await tagOf(rig, at);
  await (await rig.post(`${at}/messages`, { request: "x" })).text();
  const gone = await rig.ask(at, { method: "DELETE", headers: { "if-match": fresh } });
  assert.equal(gone.status, 412, "a query ran since");
  await gone.body?.cancel();
  assert.equal((await rename(rig, at, { title: "Newer", match: `W/${await tagOf(rig, at)}` })).status, 412);
  assert.equal((await rename(rig, at, { title: "Newer", match: '"ab"' })).status, 412);
  assert.equal((await rename(rig, at, { title: "Listed", match: `"a", ${await tagOf(rig, at)}` })).status, 200);
  assert.equal((await rename(rig, at, { title: "Any", match: "*" })).status, 200);
  assert.equal((await rig.ask(at, { method: "DELETE", headers: { "if-match": await tagOf(rig, at) } })).status, 204);
  assert.equal((await rig.ask(at, { method: "DELETE", headers: { "if-match": "*" } })).status, 404);
});

Deno.test("Changes of many clients with the same tag, one is made", async () => {
  await using rig = await startRig([]);
  const at = `/api/v1/conversations/${await rig.conversation()}`;
  const match = await tagOf(rig, at);
  const statuses = await Promise.all(Array.from({ length: 8 }, async (_, n) => {
    const response = await rename(rig, at, { title: `Title ${n}`, match });
    await response.body?.cancel();
    return response.status;
  }));
  assert.deepEqual(statuses.toSorted(), [200, ...Array.from({ length: 7 }, () => 412)]);
});

Deno.test("HEAD is answered with the length of GET, and no body", async () => {
  await using rig = await startRig([]);
  for (const path of ["/", "/assets/app.js", "/openapi.json", "/docs", "/healthz", "/api/v1", "/api/v1/nothing"]) {
    const [head, got] = [await rig.ask(path, { method: "HEAD" }), await rig.ask(path)];
    const bytes = (await got.bytes()).length;
    assert.deepEqual([head.status, await head.text()], [got.status, ""], path);
    assert.equal(Number(head.headers.get("content-length")), bytes, path);
    assert.equal(Number(got.headers.get("content-length")), bytes, path);
  }
});
