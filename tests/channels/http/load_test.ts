import autocannon from "autocannon";
import assert from "node:assert/strict";
import { startRig, TOKEN } from "./_rig.ts";

const AMOUNT = 500;

Deno.test("autocannon: all requests of many connections at once are answered, reads and changes", async () => {
  await using rig = await startRig([]);
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const made = await autocannon({
    ...{ url: rig.url, connections: 50, amount: AMOUNT, headers },
    requests: [
      { method: "POST", path: "/api/v1/conversations", body: JSON.stringify({ title: "Load" }) },
      { method: "GET", path: "/api/v1/conversations?limit=1" },
    ],
  });
  assert.deepEqual([made["2xx"], made.non2xx, made.errors, made.timeouts], [AMOUNT, 0, 0, 0]);
  const { items } = await (await rig.ask("/api/v1/conversations?limit=200")).json();
  assert.equal(items.length, 200);
});

Deno.test("autocannon: requests above the rate are refused with 429, and counted", async () => {
  await using rig = await startRig([], { limits: { perToken: { perMinute: 1, burst: 20 } } });
  const refused = await autocannon({
    ...{ url: `${rig.url}api/v1`, connections: 10, amount: 100, headers: { authorization: `Bearer ${TOKEN}` } },
  });
  assert.deepEqual([refused["2xx"], refused["4xx"], refused.errors], [20, 80, 0]);
});
