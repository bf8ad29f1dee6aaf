import assert from "node:assert/strict";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { type Rig, startRig } from "../_rig.ts";

async function asked(rig: Rig, id: string): Promise<string> {
  return (await (await rig.post(`/api/v1/conversations/${id}/messages`, { request: "x" })).json()).queryId;
}

async function read(rig: Rig, path: string) {
  const response = await rig.ask(`/api/v1/conversations/${path}`);
  assert.equal(response.status, 200, path);
  return await response.json();
}

Deno.test("queryRoutes() iterations come page by page, with walls, grants and cost", async () => {
  await using rig = await startRig([replyJson("const a = 1"), replyJson("const b = a + 1"), final("{{b}}")]);
  const id = await rig.conversation();
  const path = `${id}/queries/${await asked(rig, id)}/iterations`;
  const all = await read(rig, path);
  assert.deepEqual([all.items.map((one: { iteration: number }) => one.iteration), all.next], [[1, 2, 3], null]);
  const { metadata } = all.items[0];
  assert.equal(metadata.walls.realm, true);
  assert.deepEqual(metadata.grants, { net: [], read: [], write: [], env: [] });
  assert.ok("costUsd" in metadata);
  const first = await read(rig, `${path}?limit=2`);
  assert.deepEqual([first.items.map((one: { iteration: number }) => one.iteration), first.next], [[1, 2], 2]);
  const rest = await read(rig, `${path}?after=${first.next}`);
  assert.deepEqual(rest.items, all.items.slice(2));
  assert.equal(all.items[1].blocks[0].code, "const b = a + 1");
  assert.deepEqual((await read(rig, `${path}?after=3`)).items, []);
  assert.equal((await rig.ask(`/api/v1/conversations/${path}?limit=0`)).status, 400);
});

Deno.test("queryRoutes() queries come from the newest back", async () => {
  await using rig = await startRig([final("one"), final("two"), final("three")]);
  const id = await rig.conversation();
  for (let at = 0; at < 3; at++) await asked(rig, id);
  const newest = await read(rig, `${id}/queries?limit=2`);
  assert.deepEqual([newest.items.map((one: { answer: string }) => one.answer), newest.before], [["two", "three"], 1]);
  const before = await read(rig, `${id}/queries?limit=2&before=${newest.before}`);
  assert.deepEqual([before.items.map((one: { answer: string }) => one.answer), before.before], [["one"], 0]);
  assert.equal((await read(rig, `${id}/queries`)).items.length, 3);
});

Deno.test("queryRoutes() graph names the variables and the sources of each, forks included", async () => {
  const code = ["const rows = [1, 2]", "const total = rows[0] + rows[1]", "function twice() { return total * 2 }"];
  await using rig = await startRig([
    replyJson(code),
    final("{{total}}"),
    replyJson("const more = total + 1"),
    final("{{total}}"),
  ]);
  const id = await rig.conversation();
  const queryId = await asked(rig, id);
  const { nodes, edges } = await read(rig, `${id}/graph`);
  const own = nodes.filter(({ name }: { name: string }) => !name.startsWith("$"));
  assert.deepEqual(own.map(({ name }: { name: string }) => name).toSorted(), ["rows", "total", "twice"]);
  assert.deepEqual(edges, [{ name: "total", reads: "rows" }, { name: "twice", reads: "total" }]);
  const fork = await (await rig.post(`/api/v1/conversations/${id}/fork`, { queryId })).json();
  await asked(rig, fork.branchId);
  const forked = await read(rig, `${fork.branchId}/graph`);
  assert.deepEqual(forked.edges, [{ name: "more", reads: "total" }, ...edges]);
  assert.equal((await rig.ask("/api/v1/conversations/nothere0/graph")).status, 404);
});
