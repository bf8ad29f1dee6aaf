import assert from "node:assert/strict";
import { NO_QUOTA } from "../_rig.ts";
import { signedTokens } from "../../../../src/channels/http/signed_tokens.ts";
import { createLog } from "../../../../src/logging/log.ts";
import { AUDIENCE, type Issuer, startIssuer } from "./_issuer.ts";

const NOW = 2_000_000_000;
const MINUTE = 60_000;

function tokensOf(issuer: Issuer, clock: { readonly now: number }, jwks: string | null = `${issuer.url}/keys`) {
  return signedTokens({
    ...{ issuer: issuer.url, audience: AUDIENCE, jwks, scopeClaim: "scope", tenantClaim: null, quota: NO_QUOTA },
    ...{ now: () => clock.now, log: createLog("test") },
  });
}

Deno.test("keySet() takes a key that was added, and soon none that was removed", async () => {
  await using issuer = startIssuer(NOW);
  const clock = { now: NOW * 1000 };
  const tokens = tokensOf(issuer, clock);
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
  // The keys are old: this token is still checked with them while they are read again.
  await tokens(token);
  await tokens(await newest.sign({ exp: NOW + 3600 }));
  await assert.rejects(tokens(token), { status: 401, message: /has no such key/ });
});

Deno.test("keySet() asks once for many tokens at a time, and once in ten seconds for unknown keys", async () => {
  await using issuer = startIssuer(NOW);
  const clock = { now: NOW * 1000 };
  const tokens = tokensOf(issuer, clock);
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
  const tokens = tokensOf(issuer, clock);
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
    await assert.rejects(tokensOf(issuer, { now: NOW * 1000 }, jwks)(token), { status: 503 }, String(answer));
  }
});
