import assert from "node:assert/strict";
import { raw, statusOf } from "../_raw.ts";
import { startRig, TOKEN } from "../_rig.ts";
import { guard } from "../../../../src/channels/http/admission.ts";
import { Problem } from "../../../../src/channels/http/problem.ts";

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
    "Cannot read the URL: it is longer than 4096 bytes",
  ]);
  assert.equal((await rig.ask("/api/v1", { headers: { "x-large": "a".repeat(9_000) } })).status, 431);
  const big = await rig.post("/api/v1/conversations", { title: "a".repeat(1 << 20) });
  assert.equal(big.status, 413);
  // The last byte is the one too many: none is on its way any more when the answer comes.
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

Deno.test("readBody() refuses what is packed, of another kind, no UTF-8, no JSON, too deep or too slow", async () => {
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

Deno.test("guard() after a chunked body the connection is closed: what follows it may be no request", async () => {
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
