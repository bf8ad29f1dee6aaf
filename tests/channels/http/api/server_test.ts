import assert from "node:assert/strict";
import { startRig } from "../_rig.ts";

Deno.test("healthRoutes() is ready if every part is, and names a part that is not", async () => {
  const found = { sandbox: "", disk: "" };
  await using rig = await startRig([], { ready: () => Promise.resolve({ ...found }) });
  const ready = await fetch(new URL("/readyz", rig.url));
  assert.deepEqual(await ready.json(), { status: "ok", checks: { database: "ok", sandbox: "ok", disk: "ok" } });
  found.disk = "3 MiB are free";
  const response = await fetch(new URL("/readyz", rig.url));
  const problem = await response.json();
  assert.deepEqual([response.status, problem.detail], [
    503,
    "Cannot run requests: the check of disk failed; the field errors has the reason",
  ]);
  assert.deepEqual(problem.errors, [{ path: "disk", message: "3 MiB are free" }]);
  assert.equal((await fetch(new URL("/healthz", rig.url))).status, 200);
});

Deno.test("healthRoutes() is not ready without its database", async () => {
  await using rig = await startRig([]);
  await rig.engine.store.close();
  assert.equal((await fetch(new URL("/readyz", rig.url))).status, 503);
});

Deno.test("markdown reads texts as trees without markup, up to 30,000 characters", async () => {
  await using rig = await startRig([]);
  const read = await rig.post("/api/v1/markdown", { texts: ["# A <b>", ""] });
  const inlines = [{ kind: "text", text: "A <b>" }];
  assert.deepEqual(await read.json(), { trees: [[{ kind: "heading", level: 1, inlines }], []] });
  const long = await rig.post("/api/v1/markdown", { texts: ["x".repeat(20_000), "x".repeat(10_001)] });
  assert.equal(long.status, 400);
  await long.body?.cancel();
});
