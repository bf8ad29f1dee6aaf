import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { NO_QUOTA, type Rig, SSE, startRig } from "../_rig.ts";
import { callerLabel } from "../../../../src/channels/http/quotas.ts";
import type { TokenGrant, TokenScope } from "../../../../src/channels/http/tokens.ts";
import type { SharedQueries } from "../../../../src/conversation/shared_queries.ts";
import { newQuery } from "../../../conformance/store/fixtures.ts";
import { final } from "../../../helpers/scripted_provider.ts";
import { until } from "../../../helpers/until.ts";

const endless = { text: final("never"), delayMs: 60_000 };

const TOKENS: Readonly<Record<string, string>> = {
  reader: "reader-token-0123456789",
  writer: "writer-token-0123456789",
  owner: "owner-token-0123456789",
};

function grant(name: string, more: Partial<TokenGrant> = {}): TokenGrant {
  const digest = createHash("sha256").update(TOKENS[name] ?? "").digest();
  return { name, digest, scope: "write", tenant: "default", all: false, expiresAt: null, quota: NO_QUOTA, ...more };
}

const source = (...grants: readonly TokenGrant[]) => ({ grants: () => Promise.resolve(grants) });

function as(rig: Rig, name: string) {
  const authorization = `Bearer ${TOKENS[name]}`;
  return {
    ask: (path: string, init: RequestInit = {}) =>
      rig.ask(path, { ...init, headers: { authorization, ...init.headers } }),
    post: (path: string, body: unknown = {}, headers = {}) => rig.post(path, body, { authorization, ...headers }),
  };
}

Deno.test("describeIn() each token does what its scope says, for every route that OpenAPI describes", async () => {
  await using rig = await startRig([], {
    tokens: source(grant("reader", { scope: "read" }), grant("writer"), grant("owner", { scope: "admin" })),
  });
  const { paths } = await (await rig.ask("/openapi.json")).json();
  const order: readonly TokenScope[] = ["read", "write", "admin"];
  let tried = 0;
  for (const [path, methods] of Object.entries<Record<string, { "x-vis-scope"?: TokenScope }>>(paths)) {
    for (const [method, { "x-vis-scope": wanted }] of Object.entries(methods)) {
      if (wanted === undefined) continue;
      for (const [at, name] of ["reader", "writer", "owner"].entries()) {
        const init = { method: method.toUpperCase(), ...(method === "get" ? {} : { body: "{" }) };
        const response = await as(rig, name).ask(path.replace(/\{\w+\}/g, "01234567-none"), init);
        const text = await response.text();
        const refused = response.status === 403;
        assert.equal(refused, at < order.indexOf(wanted), `${name} ${method} ${path}: ${response.status} ${text}`);
        if (refused) assert.match(response.headers.get("www-authenticate") ?? "", /insufficient_scope/);
        tried++;
      }
    }
  }
  assert.ok(tried > 60, `${tried}`);
});

Deno.test("Quotas a token runs so many queries at a time, others are not held up, and an end makes room", async () => {
  const quota = { ...NO_QUOTA, concurrent: 1 };
  await using rig = await startRig([endless, final("of the owner"), final("after it")], {
    tokens: source(grant("writer", { quota }), grant("owner")),
  });
  const [one, two] = [await make(rig, "writer"), await make(rig, "writer")];
  const first = await as(rig, "writer").post(`${one}/messages`, { request: "x" }, SSE);
  const refused = await as(rig, "writer").post(`${two}/messages`, { request: "x" });
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
  assert.equal((await refused.json()).type, "urn:vis:problem:quota");
  assert.equal(
    (await (await as(rig, "owner").post(`${two}/messages`, { request: "x" })).json()).answer,
    "of the owner",
  );
  await as(rig, "writer").post(`${one}/cancel`);
  await first.text();
  assert.equal((await (await as(rig, "writer").post(`${two}/messages`, { request: "x" })).json()).answer, "after it");
});

async function make(rig: Rig, name: string): Promise<string> {
  return `/api/v1/conversations/${(await (await as(rig, name).post("/api/v1/conversations")).json()).conversationId}`;
}

Deno.test("Quotas queries of a day are counted by token on every way to begin one; what was refused is not", async () => {
  const clock = { now: Date.UTC(2026, 0, 1, 22) };
  const quota = { ...NO_QUOTA, queriesPerDay: 2 };
  await using rig = await startRig([final("a"), final("b"), final("c")], {
    tokens: source(grant("writer", { quota })),
    now: () => clock.now,
  });
  const at = await make(rig, "writer");
  const { post } = as(rig, "writer");
  assert.equal((await post(`${at}/messages`, { request: " " })).status, 400);
  const { queryId } = await (await post(`${at}/messages`, { request: "x" })).json();
  const chat = { model: "vis", messages: [{ role: "user", content: "x" }] };
  assert.equal((await post("/v1/chat/completions", chat)).status, 200);
  const refused = await post("/v1/chat/completions", chat);
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "7200"]);
  assert.equal(refused.headers.get("x-should-retry"), "false");
  assert.equal((await post(`${at}/messages`, { request: " " })).status, 400, "what is invalid is told as such");
  assert.equal((await post("/v1/responses", { input: " " })).status, 400);
  const unfit = { request: "x", responseSchema: { type: "unknown" } };
  assert.equal((await post(`${at}/messages`, unfit)).status, 400);
  assert.equal((await refused.json()).error.code, "insufficient_quota");
  assert.equal((await post(`${at}/retry`, { queryId })).status, 429);
  assert.equal((await as(rig, "writer").ask(at)).status, 200, "reading goes on");
  clock.now += 2 * 3_600_000;
  assert.equal((await (await post(`${at}/messages`, { request: "x" })).json()).answer, "c");
});

Deno.test("Quotas a token that has spent its day's money begins no more", async () => {
  const quota = { ...NO_QUOTA, costUsdPerDay: 0.000_001 };
  const price = { input: 10, output: 10, cached: 1 };
  await using rig = await startRig([final("a"), final("b")], {
    tokens: source(grant("writer", { quota })),
    engine: { scripted: { capabilities: { price } } },
  });
  const at = await make(rig, "writer");
  const { post } = as(rig, "writer");
  const { costUsd } = await (await post(`${at}/messages`, { request: "x" })).json();
  assert.ok(costUsd > 0);
  assert.match((await (await post(`${at}/messages`, { request: "x" })).json()).detail, /has spent its/);
});

Deno.test("Quotas what was used of the day before this process counts", async () => {
  const quota = { ...NO_QUOTA, queriesPerDay: 3 };
  await using rig = await startRig([final("the third")], {
    tokens: source(grant("writer", { quota }), grant("owner", { scope: "admin" })),
    usedToday: [{ label: "http:writer", queries: 2, costUsd: 0.5 }, { label: "http:gone", queries: 9, costUsd: 9 }],
  });
  const at = await make(rig, "writer");
  assert.equal((await (await as(rig, "writer").post(`${at}/messages`, { request: "x" })).json()).answer, "the third");
  assert.equal((await as(rig, "writer").post(`${at}/messages`, { request: "x" })).status, 429);
  const { items } = await (await as(rig, "owner").ask("/api/v1/tokens")).json();
  assert.deepEqual(items, [
    {
      ...{ name: "writer", scope: "write", tenant: "default" },
      expiresAt: null,
      quota,
      today: { queries: 3, costUsd: 0.5, running: 0 },
    },
    {
      ...{ name: "owner", scope: "admin", tenant: "default" },
      expiresAt: null,
      quota: NO_QUOTA,
      today: { queries: 0, costUsd: 0, running: 0 },
    },
  ]);
  assert.equal((await as(rig, "writer").ask("/api/v1/tokens")).status, 403);
});

Deno.test("Quotas what a token used of the day on other nodes counts", async () => {
  await using rig = await startRig([], {
    tokens: source(grant("writer", { quota: { ...NO_QUOTA, queriesPerDay: 1 } }), grant("owner", { scope: "admin" })),
    // It has accepted nothing itself.
    engine: { shared: () => ({ drain: () => Promise.resolve() }) as Partial<SharedQueries> as SharedQueries },
  });
  const at = await make(rig, "writer");
  const { branch, store } = rig.engine;
  const runLabel = callerLabel("http", { name: "writer" });
  await store.beginQuery(newQuery(branch.branchId, "of another node", { runLabel }));
  const used = async (): Promise<number> =>
    (await (await as(rig, "owner").ask("/api/v1/tokens")).json()).items[0].today.queries;
  await until(async () => await used() > 0);
  assert.equal((await as(rig, "writer").post(`${at}/messages`, { request: "x" })).status, 429);
});

Deno.test("RateLimit refuses a token and an address that ask too often, and says when to come again", async () => {
  const clock = { now: 0 };
  await using rig = await startRig([], {
    tokens: source(grant("writer"), grant("owner")),
    now: () => clock.now,
    proxies: ["127.0.0.1"],
    limits: { perToken: { perMinute: 60, burst: 3 }, perAddress: { perMinute: 60, burst: 5 } },
  });
  const status = async (name: string, from: string): Promise<number> => {
    const response = await as(rig, name).ask("/api/v1", { headers: { "x-forwarded-for": from } });
    await response.body?.cancel();
    return response.status;
  };
  const four = [];
  for (let sent = 0; sent < 4; sent++) four.push(await status("writer", "192.0.2.1"));
  assert.deepEqual(four, [200, 200, 200, 429]);
  assert.equal(await status("owner", "192.0.2.1"), 200, "another token of the address");
  const tired = await as(rig, "owner").ask("/healthz", { headers: { "x-forwarded-for": "192.0.2.1" } });
  assert.deepEqual([tired.status, tired.headers.get("retry-after")], [429, "1"], "open paths count for the address");
  assert.equal((await tired.json()).type, "urn:vis:problem:rate-limited");
  assert.equal(await status("owner", "192.0.2.2"), 200, "another address");
  clock.now += 1_000;
  assert.deepEqual([await status("writer", "192.0.2.3"), await status("writer", "192.0.2.3")], [200, 429]);
});

Deno.test("Door counts wrong tokens by address and serves the right one all the same", async () => {
  await using rig = await startRig([], {
    tokens: source(grant("writer")),
    limits: { wrongTokens: { perMinute: 1, burst: 3 } },
  });
  const statuses = [];
  for (let sent = 0; sent < 5; sent++) {
    const response = await rig.ask("/api/v1", { headers: { authorization: `Bearer guess-${sent}-0123456789` } });
    statuses.push(response.status);
    await response.body?.cancel();
  }
  assert.deepEqual(statuses, [401, 401, 401, 429, 429]);
  assert.equal((await as(rig, "writer").ask("/api/v1")).status, 200);
});

Deno.test("createApp() the log names the client behind a proxy, also of what was refused", async () => {
  const limits = { perAddress: { perMinute: 1, burst: 1 } };
  await using rig = await startRig([], { proxies: ["127.0.0.1"], limits });
  const from = (address: string, headers = {}) =>
    rig.ask("/api/v1", { headers: { "x-forwarded-for": address, ...headers } });
  const statuses = [
    (await from("192.0.2.7", { authorization: "Bearer wrong" })).status,
    (await from("192.0.2.7")).status,
    (await from("2001:db8:1:2:3::4")).status,
  ];
  assert.deepEqual(statuses, [401, 429, 200]);
  const logged = rig.logged.filter(({ event }) => event === "request").map((
    { data },
  ) => [Object(data).address, Object(data).status]);
  assert.deepEqual(logged, [["192.0.2.7", 401], ["192.0.2.7", 429], ["2001:db8:1:2::/64", 200]]);
});
