import { startHttp } from "../../../src/channels/http/start_http.ts";
import { oneToken } from "../../../src/channels/http/tokens.ts";
import { gated } from "../../e2e/page/_gate.ts";
import { final } from "../../helpers/scripted_provider.ts";
import { sseEvents } from "../../helpers/wires/sse_events.ts";
import { held } from "./_raw.ts";
import { allEvents, LIMITS, NO_QUOTA, SSE, startRig, TOKEN } from "./_rig.ts";
import assert from "node:assert/strict";

/** The model thinks until it is cancelled. */
const endless = { text: final("never"), delayMs: 60_000 };

Deno.test("startHttp() close() cancels queries that still run after its time, stores them as interrupted and ends their streams", async () => {
  const rig = await startRig([endless], { limits: { shutdownMs: 20 }, engine: { path: ":memory:" } });
  const id = await rig.conversation();
  const response = await rig.post(`/api/v1/conversations/${id}/messages`, { request: "x" }, SSE);
  const events = allEvents(response);
  await rig.close();
  assert.deepEqual((await events).map(({ event }) => event), ["started", "iteration_started", "cancelled"]);
  await assert.rejects(rig.ask("/healthz"));
});

Deno.test("startHttp() close() lets a query that ends in time end as it would", async () => {
  const closing = Promise.withResolvers<void>();
  const rig = await startRig([{ text: final("Just in time"), after: closing.promise }], {
    limits: { shutdownMs: 60_000 },
  });
  const id = await rig.conversation();
  const events = allEvents(await rig.post(`/api/v1/conversations/${id}/messages`, { request: "x" }, SSE));
  const closed = rig.close();
  closing.resolve();
  await closed;
  assert.equal((await events).at(-1)?.event, "final");
});

Deno.test("startHttp() close() sends all of an answer to a client without a stream that reads it only now", async () => {
  const answer = "x".repeat(8 << 20); // The buffers of both ends hold less.
  await using rig = await startRig([{ text: final(answer), chunk: 1 << 20 }]);
  const body = JSON.stringify({ request: "x" });
  const socket = await held(
    rig.url,
    `POST /api/v1/conversations/${await rig.conversation()}/messages HTTP/1.1\r\nHost: ${new URL(rig.url).host}\r\n` +
      `Authorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const ended = Promise.withResolvers<void>();
  const got: string[] = [];
  socket.once("readable", () => {
    void rig.close();
    socket.on("data", (bytes) => void got.push(bytes.toString("latin1"))).on("close", () => ended.resolve()).resume();
  });
  await ended.promise;
  const [, json = ""] = got.join("").split("\r\n\r\n");
  assert.equal(JSON.parse(json).answer, answer);
});

Deno.test("startHttp() refuses new queries and is not ready while it ends", async () => {
  const gate = gated([final("It is here")], { at: 0 });
  const rig = await startRig([], { engine: { provider: gate.provider }, limits: { shutdownMs: 60_000 } });
  const id = await rig.conversation();
  const events = sseEvents(await rig.post(`/api/v1/conversations/${id}/messages`, { request: "x" }, SSE));
  await events.next();
  const closing = rig.close();
  assert.equal((await rig.ask("/readyz")).status, 503);
  const refused = await rig.post("/v1/chat/completions", { model: "vis", messages: [{ role: "user", content: "x" }] });
  assert.equal(refused.status, 503);
  gate.open();
  assert.equal((await Array.fromAsync(events)).at(-1)?.event, "final");
  await closing;
});

Deno.test("startHttp() names an address that it cannot use", async () => {
  await using rig = await startRig([]);
  const { port } = new URL(rig.url);
  const parts = {
    conversations: rig.engine.conversations,
    ...{
      workspace: "/",
      provider: "p",
      model: "m",
      version: "1",
      tokens: oneToken(TOKEN, NO_QUOTA),
      hosts: [],
      proxies: [],
    },
    admin: { models: () => Promise.resolve([]) },
    suggestions: { files: () => Promise.resolve([]), prompts: () => Promise.resolve([]) },
    extensions: { list: () => Promise.resolve([]) },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    now: Date.now,
    limits: LIMITS,
  };
  assert.throws(() => startHttp(parts, { host: "127.0.0.1", port: Number(port) }), {
    name: "ConfigError",
    message: new RegExp(`^Cannot listen on 127\\.0\\.0\\.1:${port}: `),
  });
});
