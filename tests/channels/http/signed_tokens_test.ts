import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { SignJWT, UnsecuredJWT } from "jose";
import { Problem } from "../../../src/channels/http/problem.ts";
import { signedTokens, type SignedTokensOptions } from "../../../src/channels/http/signed_tokens.ts";
import { createLog } from "../../../src/logging/log.ts";
import { AUDIENCE, type Claims, type Issuer, startIssuer } from "./_issuer.ts";
import { NO_QUOTA, startRig } from "./_rig.ts";

const NOW = 2_000_000_000;

function tokensOf(issuer: Issuer, more: Partial<SignedTokensOptions> = {}): ReturnType<typeof signedTokens> {
  return signedTokens({
    ...{ issuer: issuer.url, audience: AUDIENCE, jwks: null, scopeClaim: "scope", tenantClaim: null, quota: NO_QUOTA },
    ...{ now: () => NOW * 1000, log: createLog("test"), ...more },
  });
}

async function refused(work: Promise<unknown>, status: number, why: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.status, status, error.message);
    assert.match(error.message, why);
    const challenge = error.facts.headers?.["www-authenticate"] ?? "";
    if (status === 401) assert.match(challenge, /^Bearer realm="vis", error="invalid_token"$/);
    return true;
  });
}

Deno.test("signedTokens() takes name, scope and expiry from the claims", async () => {
  await using issuer = startIssuer(NOW);
  const key = await issuer.add("one");
  const tokens = tokensOf(issuer);
  const { name, scope, expiresAt } = await tokens(await key.sign());
  assert.deepEqual({ name, scope, expiresAt }, { name: "jwt:ana", scope: "write", expiresAt: (NOW + 600) * 1000 });
  assert.deepEqual(issuer.asked, ["/.well-known/openid-configuration", "/keys"]);
  const scoped = async (given: unknown) => (await tokens(await key.sign({ scope: given }))).scope;
  assert.equal(await scoped("vis:read vis:admin"), "admin");
  assert.equal(await scoped(["vis:read"]), "read");
  for (const none of ["", "admin", "write", "vis:write2", "xvis:write", [], 7, null, { "vis:admin": true }]) {
    await refused(key.sign({ scope: none }).then((token) => tokens(token)), 403, /claim scope has none of/);
  }
  const roles = tokensOf(issuer, { scopeClaim: "roles", jwks: `${issuer.url}/keys` });
  assert.equal((await roles(await key.sign({ roles: ["vis:read"] }))).scope, "read");
});

Deno.test("signedTokens() every algorithm of a public key", async () => {
  await using issuer = startIssuer(NOW);
  for (const alg of ["RS256", "PS384", "ES256", "ES512", "EdDSA"]) {
    const key = await issuer.add(alg, alg);
    assert.equal((await tokensOf(issuer)(await key.sign())).name, "jwt:ana", alg);
  }
});

Deno.test("signedTokens() clocks may differ by a minute, and no more", async () => {
  await using issuer = startIssuer(NOW);
  const key = await issuer.add("one");
  const tokens = tokensOf(issuer);
  const given = async (claims: Claims) => await tokens(await key.sign(claims));
  await given({ exp: NOW - 59 });
  await given({ nbf: NOW + 60 });
  await refused(given({ exp: NOW - 60 }), 401, /it has expired/);
  await refused(given({ nbf: NOW + 61 }), 401, /it is not valid yet/);
});

Deno.test("signedTokens() refuses tokens that are for others, lack a claim or are signed by others", async () => {
  await using issuer = startIssuer(NOW);
  await using other = startIssuer(NOW);
  const key = await issuer.add("one");
  const foreign = await other.add("one");
  const tokens = tokensOf(issuer);
  const cases: readonly (readonly [Claims, RegExp])[] = [
    [{ iss: "https://evil.example" }, /claim iss/],
    [{ iss: `${issuer.url}/` }, /claim iss/],
    [{ aud: "https://other.example" }, /claim aud/],
    [{ aud: [] }, /claim aud/],
    [{ aud: undefined }, /claim aud/],
    [{ exp: undefined }, /claim exp/],
    [{ exp: "2100" }, /claim exp/],
    [{ sub: undefined }, /claim sub/],
    [{ sub: "" }, /claim sub/],
    [{ sub: "a\nb" }, /claim sub/],
    [{ sub: "x".repeat(256) }, /claim sub/],
  ];
  for (const [claims, why] of cases) await refused(key.sign(claims).then((one) => tokens(one)), 401, why);
  await refused(
    tokens(await foreign.sign({ iss: issuer.url })),
    401,
    /its signature does not fit the key of its issuer/,
  );
  const [head, body, signature] = (await key.sign()).split(".");
  const wider = Buffer.from(JSON.stringify({
    ...JSON.parse(Buffer.from(body ?? "", "base64url").toString()),
    scope: "vis:admin",
  })).toString("base64url");
  await refused(tokens(`${head}.${wider}.${signature}`), 401, /its signature does not fit the key of its issuer/);
});

Deno.test("signedTokens() refuses no signature and one by a public key as the secret", async () => {
  await using issuer = startIssuer(NOW);
  const key = await issuer.add("one", "RS256");
  const claims = { iss: issuer.url, aud: AUDIENCE, sub: "ana", exp: NOW + 600, scope: "vis:admin" };
  const tokens = tokensOf(issuer);
  await refused(tokens(new UnsecuredJWT(claims).encode()), 401, /its signature uses none of RS256/);
  for (const secret of [key.pem, JSON.stringify(issuer.keys[0])]) {
    const token = await new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "one" })
      .sign(new TextEncoder().encode(secret));
    await refused(tokens(token), 401, /its signature uses none of RS256/);
  }
  // The document of keys has a secret, the token has an address of keys, and a header part must be understood.
  issuer.keys.push({ kty: "oct", kid: "secret", k: "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA", alg: "HS256" });
  const shared = new TextEncoder().encode("secret-secret-secret-secret-secret");
  const token = await new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "secret" }).sign(shared);
  await refused(tokensOf(issuer)(token), 401, /its signature uses none of RS256/);
  const head = Buffer.from(JSON.stringify({ alg: "RS256", kid: "one", crit: ["x"], x: 1 })).toString("base64url");
  const [, body, signature] = (await key.sign()).split(".");
  await refused(tokens(`${head}.${body}.${signature}`), 401, /it is not a JSON Web Token that this server can read/);
});

Deno.test("signedTokens() is tried for a token of three parts that no list has", async () => {
  await using issuer = startIssuer(Math.floor(Date.now() / 1000));
  const key = await issuer.add("one");
  const signed = tokensOf(issuer, { now: Date.now });
  await using rig = await startRig([], {
    tokens: { grants: () => Promise.resolve([]), signed },
    limits: { headerBytes: 32_768 },
  });
  const get = async (token: string, path = "/api/v1") => {
    const response = await rig.ask(path, { headers: { authorization: `Bearer ${token}` } });
    return {
      status: response.status,
      body: await response.json(),
      challenge: response.headers.get("www-authenticate"),
    };
  };
  assert.equal((await get(await key.sign())).status, 200);
  assert.equal(issuer.asked.length, 2);
  const expired = await get(await key.sign({ exp: 1 }));
  assert.equal(expired.status, 401);
  assert.equal(expired.body.detail, "Cannot accept this token: it has expired; use a new one");
  assert.equal(expired.challenge, 'Bearer realm="vis", error="invalid_token"');
  const narrow = await get(await key.sign({ scope: "vis:read" }), "/api/v1/tokens");
  assert.equal(narrow.status, 403);
  assert.match(narrow.challenge ?? "", /insufficient_scope.*scope="admin"/);
  for (const huge of [await key.sign({ x: "y".repeat(10_000) }), `${"a".repeat(3000)}.b.${"c".repeat(6000)}`, "a..b"]) {
    assert.equal((await get(huge)).status, 401);
  }
  assert.equal(issuer.asked.length, 2, "none of these reached the issuer");
});

Deno.test("signedTokens() take the tenant only from a claim if one is named", async () => {
  await using issuer = startIssuer(NOW);
  const key = await issuer.add("one");
  const tokens = tokensOf(issuer, { tenantClaim: "org" });
  assert.equal((await tokens(await key.sign({ org: "ana-team" }))).tenant, "ana-team");
  for (const org of [undefined, "", "*", "../ana", "a b", ["ana"], 7, "a".repeat(65)]) {
    await refused(key.sign({ scope: "vis:admin", org }).then((token) => tokens(token)), 403, /claim org/);
  }
  assert.equal((await tokensOf(issuer)(await key.sign({ org: "ana-team" }))).tenant, "default");
});

const MINUTE = 60_000;

function tokensAt(issuer: Issuer, clock: { readonly now: number }, jwks: string | null = `${issuer.url}/keys`) {
  return signedTokens({
    ...{ issuer: issuer.url, audience: AUDIENCE, jwks, scopeClaim: "scope", tenantClaim: null, quota: NO_QUOTA },
    ...{ now: () => clock.now, log: createLog("test") },
  });
}

Deno.test("keySet() accepts an added key, and soon refuses a removed one", async () => {
  await using issuer = startIssuer(NOW);
  const clock = { now: NOW * 1000 };
  const tokens = tokensAt(issuer, clock);
  const old = await issuer.add("old");
  const token = await old.sign({ exp: NOW + 3600 });
  await tokens(token);
  const next = await issuer.add("next");
  clock.now += 10_000;
  await tokens(await next.sign());
  assert.equal(issuer.asked.length, 2);
  issuer.keys.shift();
  const newest = await issuer.add("newest");
  clock.now += 10 * MINUTE;
  await assert.rejects(tokens(token), { status: 401, message: /its issuer has no key for it/ });
  await tokens(await newest.sign({ exp: NOW + 3600 }));
});

Deno.test("keySet() asks once for many tokens at a time, and once in ten seconds for unknown keys", async () => {
  await using issuer = startIssuer(NOW);
  const clock = { now: NOW * 1000 };
  const tokens = tokensAt(issuer, clock);
  const key = await issuer.add("one");
  const token = await key.sign();
  await Promise.all(Array.from({ length: 50 }, () => tokens(token)));
  assert.equal(issuer.asked.length, 1);
  const flood = async () => {
    const made = await Promise.all(Array.from({ length: 100 }, (_, at) => key.sign({}, { kid: `x${at}` })));
    const results = await Promise.allSettled(made.map((one) => tokens(one)));
    assert.ok(results.every((one) => one.status === "rejected" && one.reason.status === 401));
  };
  await flood();
  assert.equal(issuer.asked.length, 1);
  clock.now += 10_000;
  await flood();
  assert.equal(issuer.asked.length, 2);
  await tokens(token);
});

Deno.test("keySet() keys hold for a day if the issuer does not answer, and then none", async () => {
  await using issuer = startIssuer(NOW);
  const clock = { now: NOW * 1000 };
  const tokens = tokensAt(issuer, clock);
  const key = await issuer.add("one");
  const token = await key.sign({ exp: NOW + 10 * 86_400 });
  issuer.answer = () => new Response("down", { status: 500 });
  await assert.rejects(tokens(token), { status: 503 });
  issuer.answer = null;
  await assert.rejects(tokens(token), { status: 503 }, "it is not asked again at once");
  clock.now += 10_000;
  await tokens(token);
  issuer.answer = () => new Response("down", { status: 500 });
  clock.now += 23 * 60 * MINUTE;
  await tokens(token);
  await assert.rejects(tokens(await key.sign({ exp: NOW + 10 * 86_400 }, { kid: "x" })), { status: 401 });
  clock.now += 60 * MINUTE;
  await assert.rejects(tokens(token), { status: 503 });
  issuer.answer = null;
  clock.now += 10_000;
  await tokens(token);
});

Deno.test("keySet() uses no document that is too large, not of the issuer, elsewhere or no document of keys", async () => {
  await using issuer = startIssuer(NOW);
  const token = await (await issuer.add("one")).sign();
  const documents: readonly (() => Response)[] = [
    () => new Response("x"),
    () => Response.json({}),
    () => Response.json({ keys: Array.from({ length: 101 }, () => ({ kty: "EC" })) }),
    () => Response.json({ keys: issuer.keys, more: "y".repeat(1 << 18) }),
    () => new Response(null, { status: 302, headers: { location: `${issuer.url}/other` } }),
    () => Response.json({ issuer: "https://other.example", jwks_uri: `${issuer.url}/keys`, keys: issuer.keys }),
    () => Response.json({ issuer: issuer.url, jwks_uri: "http://keys.example/keys" }),
    () => Response.json({ issuer: issuer.url, jwks_uri: "file:///etc/passwd" }),
  ];
  for (const [at, answer] of documents.entries()) {
    issuer.answer = answer;
    const jwks = at < 5 ? `${issuer.url}/keys` : null;
    await assert.rejects(tokensAt(issuer, { now: NOW * 1000 }, jwks)(token), { status: 503 }, String(answer));
  }
});
