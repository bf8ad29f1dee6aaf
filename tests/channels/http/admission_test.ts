import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { addressReader, guard, rateLimiter } from "../../../src/channels/http/admission.ts";
import { Problem } from "../../../src/channels/http/problem.ts";
import { callerLabel, type TokenGrant, type TokenScope } from "../../../src/channels/http/tokens.ts";
import type { SharedQueries } from "../../../src/conversation/conversations.ts";
import { newQuery } from "../../conformance/store/fixtures.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { until } from "../../helpers/until.ts";
import { raw, statusOf } from "./_raw.ts";
import { NO_QUOTA, onCall, type Rig, SSE, startRig, TOKEN } from "./_rig.ts";

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

Deno.test("describeIn() each token has the rights of its scope, for every route that OpenAPI describes", async () => {
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

Deno.test("Quotas limit the queries that a token runs at a time, without delaying others, and an end makes room", async () => {
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

for (const limit of [{ concurrent: 1 }, { queriesPerDay: 1 }, { costUsdPerDay: 0.000_001 }]) {
  Deno.test(`Quotas let a token at its limit steer, read and cancel its query: ${Object.keys(limit)[0]}`, async () => {
    const sent = Promise.withResolvers<void>();
    await using rig = await startRig([{ text: replyJson("1"), after: sent.promise }, endless], {
      tokens: source(grant("writer", { quota: { ...NO_QUOTA, ...limit } })),
      engine: { scripted: { capabilities: { price: { input: 10, output: 10, cached: 1 } } } },
    });
    onCall(rig, "steer", () => sent.resolve());
    const at = await make(rig, "writer");
    const { post, ask } = as(rig, "writer");
    const first = await post(`${at}/messages`, { request: "x" }, SSE);
    const steered = await post(`${at}/messages`, { request: "and this too", whenBusy: "steer" });
    assert.deepEqual([steered.status, await steered.json()], [202, { steered: true }]);
    assert.equal((await ask(`${at}/approvals`)).status, 200);
    assert.equal((await post(`${at}/cancel`)).status, 200);
    await first.text();
  });
}

Deno.test("Quotas accept a message that was to steer a query that ends, even if the token may run only one query", async () => {
  const sent = Promise.withResolvers<void>();
  await using rig = await startRig([{ text: final("one"), after: sent.promise }, final("two")], {
    tokens: source(grant("writer", { quota: { ...NO_QUOTA, concurrent: 1 } })),
  });
  onCall(rig, "steer", () => sent.resolve());
  const at = await make(rig, "writer");
  const { post } = as(rig, "writer");
  const first = await post(`${at}/messages`, { request: "x" }, SSE);
  const late = await post(`${at}/messages`, { request: "y", whenBusy: "steer" });
  assert.equal((await late.json()).answer, "two");
  await first.text();
});

async function make(rig: Rig, name: string): Promise<string> {
  return `/api/v1/conversations/${(await (await as(rig, name).post("/api/v1/conversations")).json()).conversationId}`;
}

Deno.test("Quotas count the queries of a day by token, on every way to begin one, without refused ones", async () => {
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

Deno.test("Quotas count usage of the day from before this process", async () => {
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

Deno.test("Quotas count usage of the day on other nodes", async () => {
  await using rig = await startRig([], {
    tokens: source(grant("writer", { quota: { ...NO_QUOTA, queriesPerDay: 1 } }), grant("owner", { scope: "admin" })),
    // The engine has accepted no request itself.
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

Deno.test("RateLimit refuses a token and an address that ask too often, and names the time of the next try", async () => {
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

Deno.test("createApp() the log names the client behind a proxy, also of a refused request", async () => {
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

const get = (headers: readonly string[], path = "/api/v1"): string =>
  [`GET ${path} HTTP/1.1`, `Authorization: Bearer ${TOKEN}`, "Connection: close", ...headers, "", ""].join("\r\n");

Deno.test("guard() serves its own names alone: another Host is refused though the token is right", async () => {
  await using rig = await startRig([], { hosts: ["vis.example", "proxy.example:8443"] });
  const { port } = new URL(rig.url);
  const statuses: Record<string, number> = {};
  const hosts = [
    ...[`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, "vis.example"],
    ...["vis.example:443", "proxy.example:8443"],
    ...["evil.example", `evil.example:${port}`, "127.0.0.1:1", "localhost", `127.0.0.1.evil.example:${port}`],
    ...["proxy.example", `localhost:${port}@evil.example`, "vis.example.evil.example"],
  ];
  for (const host of hosts) {
    statuses[host.replace(port, "PORT")] = statusOf(await raw(rig.url, get([`Host: ${host}`])));
  }
  const served = Object.entries(statuses).filter(([, status]) => status === 200).map(([host]) => host);
  assert.deepEqual(served, [
    ...["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT", "[::1]:PORT", "vis.example"],
    ...["vis.example:443", "proxy.example:8443"],
  ]);
  const refused = Object.values(statuses).filter((status) => status !== 200);
  assert.ok(refused.every((status) => status === 421 || status === 400), JSON.stringify(statuses));
  const scrape = ["Host: 192.0.2.7:7357"];
  assert.equal(statusOf(await raw(rig.url, get(scrape, "/metrics"))), 200, "Prometheus sends the address of the node");
  assert.equal(statusOf(await raw(rig.url, get([...scrape, "Origin: http://evil.example"], "/metrics"))), 403);
});

Deno.test("guard() refuses the page of another origin on every method and open path", async () => {
  await using rig = await startRig([]);
  const { host, port } = new URL(rig.url);
  const origins = ["null", "https://evil.example", `http://localhost.evil.example:${port}`, "http://127.0.0.1:1", "x"];
  for (const origin of origins) {
    for (const path of ["/api/v1", "/healthz", "/"]) {
      const response = await rig.ask(path, { headers: { origin } });
      assert.equal(response.status, 403, `${origin} ${path}`);
      assert.equal(response.headers.get("access-control-allow-origin"), null);
      await response.body?.cancel();
    }
  }
  assert.equal((await rig.ask("/api/v1", { headers: { origin: `http://${host}` } })).status, 200);
  const text = await raw(rig.url, get([`Host: ${host}`, "Sec-Fetch-Site: cross-site"]));
  assert.equal(statusOf(text), 403);
  const visit = await raw(
    rig.url,
    get([`Host: ${host}`, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"], "/"),
  );
  assert.equal(statusOf(visit), 200);
  const preflight = await rig.ask("/api/v1/conversations", { method: "OPTIONS" });
  assert.equal(preflight.status, 405);
});

Deno.test("guard() limits addresses, headers and bodies", async () => {
  await using rig = await startRig([]);
  const long = await rig.ask(`/api/v1?x=${"a".repeat(5_000)}`);
  assert.deepEqual([long.status, (await long.json()).detail], [
    414,
    `Cannot read the URL: it has ${
      new URL("/api/v1?x=", rig.url).href.length + 5_000
    } bytes, more than the limit of 4096; shorten the URL`,
  ]);
  assert.equal((await rig.ask("/api/v1", { headers: { "x-large": "a".repeat(9_000) } })).status, 431);
  const big = await rig.post("/api/v1/conversations", { title: "a".repeat(1 << 20) });
  assert.equal(big.status, 413);
  // The last byte exceeds the limit. The answer arrives when no byte is left to send.
  const pieces = new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array((1 << 20) + 1).fill(32)),
  });
  const endless = await rig.ask("/api/v1/conversations", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: pieces,
  });
  assert.equal(endless.status, 413, "a body without a length is counted");
});

Deno.test("readBody() refuses a body that is compressed, of another type, no UTF-8, no JSON, too deep or too slow", async () => {
  await using rig = await startRig([], { limits: { bodyMs: 200 } });
  const send = async (headers: Record<string, string>, body: BodyInit): Promise<number> => {
    const response = await rig.ask("/api/v1/conversations", { method: "POST", headers, body });
    assert.match(response.headers.get("content-type") ?? "", /problem\+json/);
    return (await response.json()).status;
  };
  const json = { "content-type": "application/json" };
  assert.equal(await send({ ...json, "content-encoding": "gzip" }, "{}"), 415);
  assert.equal(await send({ "content-type": "text/plain" }, "{}"), 415);
  assert.equal(await send({ "content-type": "application/x-www-form-urlencoded" }, "a=b"), 415);
  assert.equal(await send({ "content-type": "application/jsonx" }, "{}"), 415);
  const empty = await rig.ask("/api/v1/conversations", { method: "POST" });
  assert.equal(empty.status, 201, "nothing has no type");
  await empty.body?.cancel();
  assert.equal(await send(json, new Uint8Array([0x7b, 0xff, 0x7d])), 400);
  assert.equal(await send(json, "{"), 400);
  assert.equal(await send(json, "[".repeat(300) + "]".repeat(300)), 400);
  const { host } = new URL(rig.url);
  const slow = await raw(
    rig.url,
    [
      "POST /api/v1/conversations HTTP/1.1",
      `Host: ${host}`,
      `Authorization: Bearer ${TOKEN}`,
      "Content-Type: application/json",
      "Content-Length: 100",
      "",
      '{"title":',
    ].join("\r\n"),
  );
  assert.equal(statusOf(slow), 408);
});

Deno.test("pageFile() serves names of the page and nothing of a disk", async () => {
  await using rig = await startRig([]);
  const { host } = new URL(rig.url);
  const paths = [
    ...["/assets/../deno.json", "/assets/..%2fdeno.json", "/assets/%2e%2e/%2e%2e/etc/passwd", "/assets/..\\deno.json"],
    ...["/assets//etc/passwd", "/assets/__proto__", "/assets/constructor", "/assets/%00app.js", "/assets/", "/assets"],
    ...["//etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/app.js/..", "/assets/%ff", "/assets/app.js%2f.."],
  ];
  for (const path of paths) {
    const text = await raw(rig.url, get([`Host: ${host}`], path));
    assert.ok([400, 404].includes(statusOf(text)), `${path}: ${text.slice(0, 200)}`);
    assert.ok(!text.includes("root:") && !text.includes('"imports"'), path);
  }
  const page = await rig.ask("/", { headers: { authorization: "" } });
  assert.deepEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  await page.body?.cancel();
  const etag = page.headers.get("etag") ?? "";
  assert.equal((await rig.ask("/", { headers: { "if-none-match": etag } })).status, 304);
});

Deno.test("guard() refuses a body with two lengths, and one of another coding", () => {
  const codeOf = (headers: Record<string, string>, chunked = true): number => {
    const limits = { chunked, headerBytes: 1e4, urlBytes: 1e4, bodyBytes: 1e4 };
    try {
      guard(new Request("http://x/", { headers: { host: "x", ...headers } }), limits, new Set(["x"]));
      return 200;
    } catch (error) {
      return error instanceof Problem ? error.status : assert.fail(String(error));
    }
  };
  const coded = (coding: string) => ({ "transfer-encoding": coding });
  assert.equal(codeOf({ "content-length": "5" }), 200);
  assert.equal(codeOf(coded("Chunked")), 200);
  assert.equal(codeOf({ ...coded("chunked"), "content-length": "5" }), 400);
  assert.equal(codeOf({ ...coded("xchunked"), "content-length": "5" }), 400);
  for (
    const coding of ["gzip, chunked", "identity, chunked", "chunked, chunked", "chunked, identity", "xchunked", ""]
  ) {
    assert.equal(codeOf(coded(coding)), 415, coding);
  }
  assert.equal(codeOf(coded("chunked"), false), 411);
  assert.equal(codeOf({ "content-length": "5" }, false), 200);
});

Deno.test("guard() closes the connection after a chunked body, because the next bytes may be no request", async () => {
  await using rig = await startRig([]);
  const { host } = new URL(rig.url);
  for (const path of ["/healthz", "/none", "/api/v1"]) {
    const answer = await raw(
      rig.url,
      `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    );
    assert.match(answer.split("\r\n\r\n")[0] ?? "", /\r\nconnection: close/i);
  }
});

const from = (remote: string, forwarded?: string, proxies: readonly string[] = []): string => {
  return addressReader(proxies)(new Headers(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }), remote);
};

Deno.test("addressReader() trusts only a known proxy, and only the addresses that proxies have added", () => {
  assert.equal(from("192.0.2.1", "198.51.100.7"), "192.0.2.1");
  assert.equal(from("192.0.2.1", "198.51.100.7", ["192.0.2.1"]), "198.51.100.7");
  assert.equal(from("192.0.2.1", "6.6.6.6, 198.51.100.7", ["192.0.2.1"]), "198.51.100.7", "the first one is invented");
  assert.equal(from("192.0.2.1", "6.6.6.6, 198.51.100.7, 192.0.2.2", ["192.0.2.1", "192.0.2.2"]), "198.51.100.7");
  assert.equal(from("192.0.2.1", "<script>", ["192.0.2.1"]), "192.0.2.1");
  assert.equal(from("::ffff:192.0.2.1", "198.51.100.7", ["192.0.2.1"]), "198.51.100.7");
});

Deno.test("addressReader() knows proxies by their networks too", () => {
  const networks = ["10.0.0.0/8", "fd00::/8"];
  assert.equal(from("10.20.30.40", "198.51.100.7", networks), "198.51.100.7");
  assert.equal(from("::ffff:10.20.30.40", "198.51.100.7", networks), "198.51.100.7");
  assert.equal(from("fd00::5", "6.6.6.6, 198.51.100.7, 10.0.0.9", networks), "198.51.100.7");
  assert.equal(from("11.0.0.1", "198.51.100.7", networks), "11.0.0.1");
  assert.equal(from("unix", "198.51.100.7", networks), "unix");
});

Deno.test("addressReader() takes a network of IPv6 for one", () => {
  assert.equal(from("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  assert.equal(from("2001:db8:1:2::1"), from("2001:DB8:1:2:ffff::9"));
  assert.notEqual(from("2001:db8:1:2::1"), from("2001:db8:1:3::1"));
  assert.equal(from("::1"), "0:0:0:0::/64");
});

Deno.test("rateLimiter() fills up with time, to its burst and no further, and a clock that goes back gives nothing", () => {
  const clock = { now: 1_000_000 };
  const limit = rateLimiter({ perMinute: 60, burst: 2 }, { what: "token", counts: "requests", now: () => clock.now });
  const takes = (): boolean => {
    try {
      limit("a");
      return true;
    } catch {
      return false;
    }
  };
  assert.deepEqual([takes(), takes(), takes()], [true, true, false]);
  clock.now += 1_000;
  assert.deepEqual([takes(), takes()], [true, false]);
  clock.now += 3_600_000;
  assert.deepEqual([takes(), takes(), takes()], [true, true, false]);
  clock.now -= 3_600_000;
  assert.equal(takes(), false);
});

Deno.test("rateLimiter() keeps a bounded number of keys, and does not forget an exhausted one for full ones", () => {
  const clock = { now: 0 };
  const limit = rateLimiter({ perMinute: 60, burst: 1 }, { what: "address", counts: "requests", now: () => clock.now });
  for (let at = 0; at < 9_999; at++) limit(`old ${at}`);
  clock.now += 60_000;
  limit("busy");
  for (let at = 0; at < 9_000; at++) limit(`new ${at}`);
  assert.throws(() => limit("busy"), { status: 429 });
});
