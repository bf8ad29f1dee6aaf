import assert from "node:assert/strict";
import { createHash, timingSafeEqual } from "node:crypto";
import { Problem } from "../../../src/channels/http/problem.ts";
import { checkToken, type TokenGrant } from "../../../src/channels/http/tokens.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { NO_QUOTA, startRig, TOKEN } from "./_rig.ts";

const grant = (token: string, more: Partial<TokenGrant> = {}): TokenGrant => ({
  name: token,
  digest: createHash("sha256").update(token).digest(),
  scope: "admin",
  tenant: "default",
  all: true,
  expiresAt: null,
  quota: NO_QUOTA,
  ...more,
});

const tokens = (...grants: readonly TokenGrant[]) => ({ grants: () => Promise.resolve(grants) });

Deno.test("checkToken() accepts a token only as a bearer", async () => {
  const options = { tokens: tokens(grant("other-token-0123456789"), grant(TOKEN)), now: Date.now };
  for (const good of [`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `Bearer  ${TOKEN} `]) {
    assert.equal((await checkToken(good, options)).name, TOKEN, good);
  }
  const bad = [
    null,
    "",
    "Bearer",
    "Bearer ",
    TOKEN,
    `Basic ${TOKEN}`,
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Bearer ${TOKEN.toUpperCase()}`,
    `Bearer ${TOKEN} ${TOKEN}`,
    `Bearer x${TOKEN}`,
    `Bearer ${"a".repeat(10_000)}`,
    `Bearer ${createHash("sha256").update(TOKEN).digest("hex")}`,
  ];
  for (const one of bad) await assert.rejects(checkToken(one, options), { status: 401 }, String(one));
});

Deno.test("checkToken() refuses an empty token even where the digest of nothing is in the list", async () => {
  await assert.rejects(checkToken("Bearer ", { tokens: tokens(grant("")), now: Date.now }), { status: 401 });
});

Deno.test("checkToken() an expired token is refused from its moment on, with that reason", async () => {
  const clock = { now: 999 };
  const options = { tokens: tokens(grant(TOKEN, { expiresAt: 1_000 })), now: () => clock.now };
  assert.equal((await checkToken(`Bearer ${TOKEN}`, options)).name, TOKEN);
  clock.now = 1_000;
  await assert.rejects(checkToken(`Bearer ${TOKEN}`, options), (error) => {
    assert.ok(error instanceof Problem);
    assert.equal(error.message, "Cannot accept this token: it has expired; use a new one");
    assert.match(error.facts.headers?.["www-authenticate"] ?? "", /error="invalid_token"/);
    return true;
  });
});

Deno.test("checkToken() compares digests of one length with every token, whatever is given and whichever holds", async () => {
  const names = ["first-token-0123456789", "second-token-0123456789", "third-token-0123456789"];
  for (const given of [...names, "", "x", "first-token-012345678X", "a".repeat(512)]) {
    const lengths: number[] = [];
    const equal = (a: Uint8Array, b: Uint8Array): boolean => {
      lengths.push(a.length, b.length);
      return timingSafeEqual(a, b);
    };
    const options = { tokens: tokens(...names.map((name) => grant(name))), now: Date.now, equal };
    await checkToken(`Bearer ${given}`, options).catch(() => {});
    assert.deepEqual(lengths, [32, 32, 32, 32, 32, 32], given);
  }
});

const CLOSED = [
  ...["GET /api/v1", "GET /api/v1/conversations", "POST /api/v1/conversations", "GET /api/v1/models"],
  ...["POST /api/v1/prompt", "GET /v1/models", "POST /v1/chat/completions", "GET /nothing", "DELETE /api/v1"],
  ...["GET /api/v1/conversations/01234567/queries", "POST /api/v1/conversations/01234567/messages", "GET /API/V1"],
];

Deno.test("createApp() asks for the token everywhere but on the page, health and the description", async () => {
  await using rig = await startRig([]);
  for (const line of CLOSED) {
    const [method = "", path = ""] = line.split(" ");
    for (const authorization of ["", "Bearer wrong-token-0123456789", `Basic ${btoa(`a:${TOKEN}`)}`]) {
      const response = await rig.ask(path, { method, headers: { authorization } });
      assert.equal(response.status, 401, line);
      assert.match(response.headers.get("www-authenticate") ?? "", /^Bearer/);
      await response.body?.cancel();
    }
  }
  assert.equal((await rig.ask(`/api/v1?token=${TOKEN}`, { headers: { authorization: "" } })).status, 401);
  for (const path of ["/", "/healthz", "/readyz", "/openapi.json", "/assets/app.js"]) {
    const response = await rig.ask(path, { headers: { authorization: "" } });
    assert.equal(response.status, 200, path);
    await response.body?.cancel();
  }
});

Deno.test("createApp() writes no token, no query and no text of a request into the log", async () => {
  await using rig = await startRig([replyJson([], { final: "ok" })]);
  const id = await rig.conversation();
  await (await rig.post(`/api/v1/conversations/${id}/messages?token=${TOKEN}`, { request: "my-secret-words" })).text();
  await (await rig.ask("/api/v1", { headers: { authorization: "Bearer wrong-token-0123456789" } })).text();
  await (await rig.post(`/api/v1/conversations/${id}/messages`, `{"request": "${TOKEN}`)).text();
  const text = JSON.stringify(rig.logged);
  assert.match(text, /"event":"request"/);
  for (const secret of [TOKEN, "wrong-token", "my-secret-words", "Bearer"]) assert.ok(!text.includes(secret), secret);
});

Deno.test("createApp() sets headers that keep a page from being framed, sniffed or scripted", async () => {
  await using rig = await startRig([]);
  for (const path of ["/", "/api/v1", "/nothing", "/healthz"]) {
    const response = await rig.ask(path, { headers: { "x-request-id": "mine-1" } });
    const csp = response.headers.get("content-security-policy") ?? "";
    assert.match(csp, /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/);
    assert.doesNotMatch(csp, /unsafe|\*|https?:/);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.equal(response.headers.get("referrer-policy"), "no-referrer");
    assert.equal(response.headers.get("x-request-id"), "mine-1");
    await response.body?.cancel();
  }
  const odd = await rig.ask("/healthz", { headers: { "x-request-id": "a b<script>" } });
  assert.match(odd.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
  await odd.body?.cancel();
});
