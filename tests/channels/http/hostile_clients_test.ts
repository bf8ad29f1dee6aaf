import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { held, raw, statusOf } from "./_raw.ts";
import { allEvents, startRig, TOKEN } from "./_rig.ts";

const post = (host: string, headers: readonly string[], body = ""): string =>
  [
    "POST /api/v1/conversations HTTP/1.1",
    `Host: ${host}`,
    `Authorization: Bearer ${TOKEN}`,
    "Content-Type: application/json",
    "Connection: close",
    ...headers,
    "",
    body,
  ].join("\r\n");

Deno.test("readBody() unpacks nothing: a body that would be a thousand times as large is refused unread", async () => {
  await using rig = await startRig([]);
  const bomb = new Uint8Array(gzipSync(new Uint8Array(64 << 20).fill(32)));
  assert.ok(bomb.length < 100_000);
  for (const encoding of ["gzip", "GZIP", "br", "deflate", "zstd", "gzip, gzip", "identity, gzip", "x"]) {
    const response = await rig.ask("/api/v1/conversations", {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": encoding },
      body: bomb,
    });
    assert.deepEqual([response.status, (await response.json()).type], [415, "urn:vis:problem:unsupported-media-type"]);
  }
  const { host } = new URL(rig.url);
  const packed = await raw(rig.url, post(host, ["Transfer-Encoding: gzip, chunked"], "0\r\n\r\n"));
  assert.equal(statusOf(packed), 415);
});

Deno.test("validJson() a body of many small values is refused before it is parsed, a long text is not", async () => {
  await using rig = await startRig([], { limits: { bodyBytes: 16 << 20, bodyMs: 10_000 } });
  const at = `/api/v1/conversations/${await rig.conversation()}/prompt`;
  const many = await rig.post(at, `{"request":"x","responseSchema":[${"[],".repeat(2_000_000)}[]]}`);
  assert.deepEqual([many.status, (await many.json()).type], [413, "urn:vis:problem:too-large"]);
  const deep = (depth: number): string => `{"request":"x","responseSchema":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  for (const [body, refused] of [[deep(200), true], ['{"a":'.repeat(201), true], [deep(199), false]] as const) {
    const answer = await rig.post(at, body);
    assert.equal(answer.status, 400);
    assert.equal(/deeper than 200 levels/.test((await answer.json()).detail), refused);
  }
  const text = await rig.post("/api/v1/conversations", JSON.stringify({ title: '\\",['.repeat(1_500_000) }));
  assert.match((await text.json()).detail, /title/, "only its length is wrong");
});

Deno.test("startHttp() requests that two servers would read in two ways are refused by the first look", async () => {
  await using rig = await startRig([]);
  const { host } = new URL(rig.url);
  const smuggled = `0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const wrong = [
    post(host, ["Content-Length: 5", "Transfer-Encoding: chunked"], smuggled),
    post(host, ["Transfer-Encoding: chunked", "Content-Length: 50"], smuggled),
    post(host, ["Transfer-Encoding: xchunked", "Content-Length: 5"], smuggled),
    post(host, ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], smuggled),
    post(host, ["Transfer-Encoding:", " chunked"], smuggled),
    post(host, ["Transfer-Encoding : chunked", "Content-Length: 5"], smuggled),
    post(host, ["Transfer-Encoding: \x0bchunked", "Content-Length: 5"], smuggled),
    post(host, ["Content-Length: 2", "Content-Length: 3"], "{} "),
    post(host, ["Content-Length: 2, 3"], "{} "),
    post(host, ["Content-Length: +2"], "{}"),
    post(host, ["Host: evil.example"], ""),
    post(host, [" folded: 1"], ""),
    post(host, ["Content-Length: -1"], "{}"),
    post(host, ["Content-Length: 1e3"], "{}"),
    "\x16\x03\x01\x02\x00\x01\x00",
    `GET /healthz HTTP/9.9\r\nHost: ${host}\r\n\r\n`,
  ];
  for (const text of wrong) {
    const answer = await raw(rig.url, text, { moreMs: 300 });
    assert.ok([0, 400].includes(statusOf(answer)), `${text}: ${answer}`);
    assert.ok(!answer.includes('"ok"'), "the second request is not answered");
  }
  const headers = Array.from({ length: 150 }, (_, at) => `X-${at}: 1`);
  assert.ok([400, 431].includes(statusOf(await raw(rig.url, post(host, headers)))));
});

Deno.test("startHttp() clients that send slowly or never end delay no other client", async () => {
  await using rig = await startRig([final("served")], { limits: { bodyMs: 100 } });
  const { host } = new URL(rig.url);
  const starts = [
    "GET /api/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
    "G",
    "",
    post(host, ["Content-Length: 1000"], '{"title":'),
  ];
  const slow = await Promise.all(Array.from({ length: 100 }, (_, at) => held(rig.url, starts[at % 4] ?? "")));
  try {
    const id = await rig.conversation();
    const result = await (await rig.post(`/api/v1/conversations/${id}/messages`, { request: "x" })).json();
    assert.equal(result.answer, "served");
  } finally {
    for (const socket of slow) socket.destroy();
  }
});

Deno.test("startHttp() a body that comes byte by byte ends at its time, however steadily it comes", async () => {
  await using rig = await startRig([], { limits: { bodyMs: 120 } });
  const { host } = new URL(rig.url);
  const socket = await held(rig.url, post(host, ["Content-Length: 100000"], "{"));
  const timer = setInterval(() => socket.write(" "), 10);
  try {
    const { promise, resolve } = Promise.withResolvers<string>();
    socket.once("data", (bytes) => resolve(bytes.toString("latin1")));
    socket.resume();
    assert.equal(statusOf(await promise), 408);
  } finally {
    clearInterval(timer);
    socket.destroy();
  }
});

Deno.test("startHttp() a client that reads nothing does not keep a query or the server from its end", async () => {
  const code = Array.from({ length: 40 }, (_, at) => `console.log("line ${at} ${"x".repeat(400)}")`).join("\n");
  const rig = await startRig([{ text: replyJson([code, code]), chunk: 8 }, final("It is here")]);
  const id = await rig.conversation();
  const { host } = new URL(rig.url);
  const body = '{"request":"x"}';
  const text = post(host, ["Accept: text/event-stream", `Content-Length: ${body.length}`], body)
    .replace("/conversations HTTP", `/conversations/${id}/messages HTTP`);
  const socket = await held(rig.url, text);
  for (;;) {
    const [query] = (await (await rig.ask(`/api/v1/conversations/${id}/queries`)).json()).items;
    if (query && !query.running) {
      assert.equal(query.answer, "It is here");
      const events = await rig.ask(`/api/v1/conversations/${id}/queries/${query.queryId}/events`);
      assert.equal((await allEvents(events)).at(-1)?.event, "final");
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  socket.destroy();
  await rig.close();
});

const ends = Deno.build.os === "linux";

Deno.test({
  name: `startHttp() ends connections whose request never comes, and no others${ends ? "" : " (skipped: Linux)"}`,
  ignore: !ends,
  fn: async () => {
    const ended = Promise.withResolvers<void>();
    await using rig = await startRig([{ text: final("served"), after: ended.promise }], {
      limits: { idle: { headMs: 200, idleMs: 60_000 } },
    });
    const id = await rig.conversation();
    const asked = rig.post(`/api/v1/conversations/${id}/messages`, { request: "x" });
    const starts = ["", "G", "GET /api/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "];
    const sockets = await Promise.all(starts.map((start) => held(rig.url, start)));
    await Promise.all(sockets.map((socket) =>
      new Promise((resolve) => {
        socket.once("close", resolve);
        socket.resume();
      })
    ));
    ended.resolve();
    assert.equal((await (await asked).json()).answer, "served");
  },
});
