import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { callWeb } from "../../../extensions/web/web_call.ts";
import { OTHER, PUBLIC, reply, type Site, site, view, world } from "./_site.ts";

const GET = { method: "GET" } as const;
const NAMES = { "site.example": [[PUBLIC]], "other.example": [[OTHER]] };
const hosts = ["site.example", "other.example"];

async function withSites(sites: readonly Site[], run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } finally {
    await Promise.all(sites.map((one) => one.close()));
  }
}

Deno.test("web.get() returns data: parsed JSON, decoded text, bytes, whatever the status", async () => {
  const one = site({
    "/json": reply('{"a":[1,2]}', { "content-type": "application/json", "set-cookie": "a=b" }),
    "/long": reply("[9223372036854775807]", { "content-type": "application/json" }),
    "/bad": reply("{", { "content-type": "application/problem+json" }, 500),
    "/latin": reply(Uint8Array.of(0xe9, 0x21), { "content-type": "text/plain; charset=iso-8859-1" }),
    "/png": reply(Uint8Array.of(0x89, 0x50, 0), { "content-type": "image/png" }),
    "/none": "HTTP/1.1 204 No Content\r\n\r\n",
    "/chunks": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n02\r\nde\r\n0\r\n\r\n",
    "/end": "HTTP/1.0 200 OK\ncontent-type: text/plain\n\nto the end",
    "/early": ["HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nlate"],
    "/gzip": reply(gzipSync("packed"), { "content-type": "text/plain", "content-encoding": "gzip" }),
  }, { secure: true });
  await withSites([one], async () => {
    const outside = world(NAMES, { [`${PUBLIC}:443`]: one.port });
    const get = (path: string, more = {}) =>
      callWeb(view({ hosts }), `https://site.example${path}#part`, { ...GET, outside, ...more });
    assert.deepEqual(await get("/json"), {
      status: 200,
      url: "https://site.example/json#part",
      headers: { "content-length": "11", "content-type": "application/json" },
      json: { a: [1, 2] },
      truncated: false,
    });
    const text = async (path: string, more = {}) => (await get(path, more) as { text?: string }).text;
    assert.equal((await get("/bad")).status, 500);
    assert.equal(await text("/bad"), "{");
    assert.deepEqual(Object(await get("/long")).json, [9223372036854775807n]);
    assert.equal(await text("/json", { as: "text" }), '{"a":[1,2]}');
    assert.equal(await text("/latin"), "é!");
    assert.deepEqual((await get("/png") as { bytes?: Uint8Array }).bytes, Uint8Array.of(0x89, 0x50, 0));
    assert.equal((await get("/none")).status, 204);
    assert.equal(await text("/chunks"), "abcde");
    assert.equal(await text("/end"), "to the end");
    assert.equal(await text("/early"), "late");
    assert.equal(await text("/gzip"), "packed");
    assert.deepEqual(one.seen[0]?.lines, [
      "GET /json HTTP/1.1",
      "host: site.example",
      "user-agent: vis",
      "accept: */*",
      "accept-encoding: gzip",
      "connection: close",
    ]);
  });
});

Deno.test("web.post() sends text, bytes and JSON, and refuses headers that would begin others", async () => {
  const one = site({ "/": reply("ok", { "content-type": "text/plain" }) });
  await withSites([one], async () => {
    const outside = world(NAMES, { [`${PUBLIC}:80`]: one.port });
    const post = (body: unknown, headers: Record<string, string> = {}) =>
      callWeb(view({ hosts }), "http://site.example/", { method: "POST", body, headers, outside });
    await post({ a: "ü" }, { Authorization: "Bearer k" });
    assert.deepEqual(JSON.parse(new TextDecoder().decode(Uint8Array.from(one.seen[0]!.body, (c) => c.charCodeAt(0)))), {
      a: "ü",
    });
    assert.ok(one.seen[0]?.lines.includes("content-type: application/json"));
    assert.ok(one.seen[0]?.lines.includes("authorization: Bearer k"));
    await post("a=1", { "Content-Type": "application/x-www-form-urlencoded" });
    assert.ok(one.seen[1]?.lines.includes("content-type: application/x-www-form-urlencoded"));
    await post(Uint8Array.of(1, 2));
    assert.ok(one.seen[2]?.lines.includes("content-length: 2"));
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, "1"]));
    await post({ a: 1 }, many(50));
    assert.deepEqual(one.seen[3]?.lines.filter((line) => /^x-49|^content-type/.test(line)), [
      "content-type: application/json",
      "x-49: 1",
    ]);
    await assert.rejects(post({ a: 1 }, many(51)), /: the request has 51 headers, and the limit is 50/);
    for (
      const headers of [
        { "x-a": "1\r\nx-b: 2" },
        { "x-a\r\nx-b": "1" },
        { "x-a": "1\u2028" },
        { Host: "inside.example" },
        { "Content-Length": "5" },
        { "transfer-encoding": "chunked" },
        { Cookie: "a=b" },
        { "Proxy-Authorization": "x" },
        { Upgrade: "h2c" },
      ]
    ) {
      await assert.rejects(
        post("x", headers as Record<string, string>),
        /Cannot post .*header/,
        JSON.stringify(headers),
      );
    }
    assert.equal(one.seen.length, 4);
  });
});

Deno.test("web.get() follows redirects and leaves keys behind where they lead elsewhere", async () => {
  const other = site({ "/end": reply("there", { "content-type": "text/plain" }) }, { secure: true });
  const one = site({
    "/go": reply("", { location: "/next" }, 302),
    "/next": reply("", { location: "https://other.example/end" }, 307),
    "/loop": reply("", { location: "/loop" }, 301),
    "/plain": reply("", { location: "http://site.example/" }, 302),
    "/file": reply("", { location: "file:///etc/passwd" }, 302),
    "/user": reply("", { location: "https://a:b@site.example/" }, 302),
    "/away": reply("", { location: "https://evil.example/" }, 302),
    "/post": reply("", { location: "/seen" }, 303),
    "/again": reply("", { location: "/seen" }, 308),
    "/leak": reply("", { location: "https://other.example/end" }, 307),
    "/seen": reply("seen", { "content-type": "text/plain" }),
  }, { secure: true });
  await withSites([one, other], async () => {
    const outside = world(NAMES, { [`${PUBLIC}:443`]: one.port, [`${OTHER}:443`]: other.port });
    const call = (path: string, more: object = {}) =>
      callWeb(view({ hosts }), `https://site.example${path}`, { ...GET, outside, ...more });
    const headers = { authorization: "Bearer k", "x-api-key": "k", accept: "text/plain" };
    const end = await call("/go", { headers });
    assert.equal(end.url, "https://other.example/end");
    assert.ok(one.seen[1]?.lines.includes("authorization: Bearer k"));
    assert.deepEqual(other.seen[0]?.lines.filter((line) => /k$|^accept:/.test(line)), ["accept: text/plain"]);
    await assert.rejects(
      call("/loop"),
      /Cannot get https:\/\/site\.example\/loop: it redirected more than 5 times, the last time to https:\/\/site\.example\/loop/,
    );
    await assert.rejects(call("/plain"), /its redirect is not allowed, because it goes from https: to http:/);
    await assert.rejects(call("/file"), /its redirect is not allowed, because the protocol is file,/);
    await assert.rejects(call("/user"), /its redirect is not allowed, because the address contains a name or password/);
    await assert.rejects(call("/away"), /the host evil.example is not in web.hosts/);
    const posting = { method: "POST", body: "x" };
    await call("/post", posting);
    assert.equal(one.seen.at(-1)?.lines[0], "GET /seen HTTP/1.1");
    assert.ok(!one.seen.at(-1)?.lines.some((line) => line.startsWith("content-")));
    await call("/again", posting);
    assert.equal(one.seen.at(-1)?.lines[0], "POST /seen HTTP/1.1");
    await assert.rejects(call("/leak", posting), /sends a posted body only to the original origin/);
    assert.equal(other.seen.length, 1);
  });
});

Deno.test("web.get() aborts a response that is too large, too slow, cancelled or not HTTP", async () => {
  const drip = async (conn: Deno.Conn) => {
    for (;;) {
      await conn.write(new TextEncoder().encode("H"));
      await new Promise((done) => setTimeout(done, 5));
    }
  };
  const endless = async (conn: Deno.Conn) => {
    await conn.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n"));
    for (;;) await conn.write(new Uint8Array(65536).fill(97));
  };
  const lines = async (conn: Deno.Conn) => {
    await conn.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n"));
    for (;;) await conn.write(new TextEncoder().encode(`x-a: ${"a".repeat(1000)}\r\n`));
  };
  const bomb = gzipSync(new Uint8Array(64 << 20));
  const one = site({
    "/drip": drip,
    "/endless": endless,
    "/lines": lines,
    "/line": "HTTP/1.1 200 OK\r\nx: " + "a".repeat(70_000),
    "/bomb": reply(bomb, { "content-encoding": "gzip", "content-type": "application/json" }),
    "/broken": reply(gzipSync("x".repeat(1e5)).subarray(0, 60), { "content-encoding": "gzip" }),
    "/br": reply("x", { "content-encoding": "br" }),
    "/short": "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",
    "/chunk": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "/ssh": "SSH-2.0-OpenSSH_9.2\r\n",
    "/two": "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
    "/fold": "HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n",
    "/closed": "",
  });
  await withSites([one], async () => {
    const outside = world(NAMES, { [`${PUBLIC}:80`]: one.port });
    const get = (path: string, more: object = {}, signal?: AbortSignal) =>
      callWeb(view({ hosts, ...(signal ? { signal } : {}) }), `http://site.example${path}`, {
        ...GET,
        outside,
        ...more,
      });
    await assert.rejects(
      get("/drip", { timeoutMs: 60 }),
      /Cannot get http:\/\/site.example\/drip: it took longer than 60 ms/,
    );
    const much = await get("/endless", { maxBytes: 100_000 }) as { text?: string; truncated: boolean };
    assert.deepEqual([much.text?.length, much.truncated], [100_000, true]);
    await assert.rejects(get("/lines"), /headers of the response have more than 65536 characters/);
    await assert.rejects(
      get("/line"),
      /Cannot get http:\/\/site\.example\/line: a line of the response is longer than 16384 bytes, the limit/,
    );
    const small = await get("/bomb", { maxBytes: 1000 }) as { text?: string; truncated: boolean };
    assert.deepEqual([small.text?.length, small.truncated], [1000, true]);
    await assert.rejects(get("/broken"), /Cannot get/);
    await assert.rejects(get("/br"), /encoded as br/);
    await assert.rejects(get("/short"), /ended 7 bytes early/);
    await assert.rejects(get("/chunk"), /chunk without a length/);
    await assert.rejects(get("/ssh"), /not HTTP/);
    await assert.rejects(get("/two"), /has the length 1, 2/);
    await assert.rejects(get("/fold"), /the response has the invalid header "/);
    await assert.rejects(get("/closed"), /ended in the middle of a line/);
    const controller = new AbortController();
    const waiting = get("/drip", {}, controller.signal);
    setTimeout(() => controller.abort(new Error("given up")), 20);
    await assert.rejects(waiting, /given up/);
  });
});
