import { createHash } from "node:crypto";
import { createLocalJWKSet, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from "jose";
import { z } from "zod";
import { messageOf } from "../../domain/errors.ts";
import { isSecureUrl } from "../../domain/kit/addresses.ts";
import { readBounded } from "../../domain/kit/bytes.ts";
import { DEFAULT_TENANT, TENANT_NAME, TENANT_RULE } from "../../domain/kit/ids.ts";
import { readForeignJson } from "../../domain/kit/json.ts";
import type { Log } from "../../logging/log.ts";
import { Problem, unauthorized } from "./problem.ts";
import type { Quota, TokenGrant, TokenScope } from "./tokens.ts";

/** The list has only algorithms with public keys, because every verifier with a shared secret could sign tokens. */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
const SKEW_SECONDS = 60;
const SCOPES: readonly TokenScope[] = ["admin", "write", "read"];
const SUBJECT = /^[^\p{Cc}]{1,255}$/u;

export interface SignedTokensOptions extends KeySetOptions {
  readonly audience: string;
  /** The claim has the scopes `vis:read`, `vis:write` or `vis:admin`, in a list or separated by spaces. */
  readonly scopeClaim: string;
  readonly tenantClaim: string | null;
  readonly quota: Quota;
}

/** The result rejects with `Problem`: 401 for an invalid token, 403 without scope or tenant, 503 without the issuer's
 * keys. */
export function signedTokens(
  { audience, scopeClaim, tenantClaim, quota, ...options }: SignedTokensOptions,
): (token: string) => Promise<TokenGrant> {
  const { issuer, now } = options;
  const keys = keySet(options);
  return async (token) => {
    const { payload: claims } = await jwtVerify(token, keys, {
      ...{ issuer, audience, algorithms: ALGORITHMS, requiredClaims: ["exp", "sub"] },
      ...{ clockTolerance: SKEW_SECONDS, currentDate: new Date(now()) },
    }).catch((error: unknown) => {
      throw error instanceof errors.JOSEError
        ? unauthorized(`Cannot accept this token: ${faultOf(error)}`, true)
        : error;
    });
    const { sub = "", exp = 0 } = claims;
    if (!SUBJECT.test(sub)) {
      throw unauthorized(
        "Cannot accept this token: its claim sub is not 1 to 255 characters without control characters",
        true,
      );
    }
    const digest = createHash("sha256").update(token).digest();
    // A name in the list of tokens cannot contain a colon, so no listed token has this name.
    const name = `jwt:${sub}`;
    const scope = scopeOf(claims[scopeClaim], scopeClaim);
    const tenant = tenantOf(claims, tenantClaim);
    return { name, digest, scope, tenant, all: scope === "admin", expiresAt: exp * 1000, quota };
  };
}

function scopeOf(claim: unknown, name: string): TokenScope {
  const given: readonly unknown[] = typeof claim === "string" ? claim.split(" ") : Array.isArray(claim) ? claim : [];
  const scope = SCOPES.find((one) => given.includes(`vis:${one}`));
  if (scope) return scope;
  throw new Problem(`Cannot accept this token: its claim ${name} has none of vis:read, vis:write and vis:admin`, {
    kind: "insufficient-scope",
    headers: { "www-authenticate": 'Bearer realm="vis", error="insufficient_scope", scope="vis:read"' },
  });
}

function tenantOf(claims: JWTPayload, name: string | null): string {
  if (name === null) return DEFAULT_TENANT;
  const tenant = claims[name];
  if (typeof tenant === "string" && TENANT_NAME.test(tenant)) return tenant;
  throw new Problem(`Cannot accept this token: its claim ${name} ${TENANT_RULE}`, {
    kind: "insufficient-scope",
  });
}

function faultOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return "it has expired; use a new one";
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === "nbf" && error.reason === "check_failed"
      ? "it is not valid yet; wait until the time in its claim nbf"
      : `its claim ${error.claim} is missing or not valid for this server`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return `its signature uses none of ${ALGORITHMS.join(", ")}`;
  if (error instanceof errors.JWKSNoMatchingKey) return "its issuer has no key for it";
  if (error instanceof errors.JWKSMultipleMatchingKeys) {
    return "several keys of its issuer fit its header";
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return "its signature does not fit the key of its issuer";
  return "it is not a JSON Web Token that this server can read";
}

const FRESH_MS = 600_000;
/** If the issuer does not answer, its last keys stay valid for this time. */
const HELD_MS = 24 * 3_600_000;
const PAUSE_MS = 10_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1 << 18;
const MAX_KEYS = 100;

const Keys = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(MAX_KEYS) });
const Discovery = z.object({ issuer: z.string(), jwks_uri: z.string() });

interface KeySetOptions {
  readonly issuer: string;
  readonly jwks: string | null;
  readonly now: () => number;
  readonly log: Log;
}

function keySet(options: KeySetOptions): JWTVerifyGetKey {
  const { issuer, now, log } = options;
  let kept: { readonly find: JWTVerifyGetKey | null; readonly at: number } = { find: null, at: 0 };
  let triedAt = -PAUSE_MS;
  let reading: Promise<void> | null = null;
  const isWithin = (ms: number, at: number): boolean => now() >= at && now() < at + ms;
  const held = (ms: number): JWTVerifyGetKey | null => isWithin(ms, kept.at) ? kept.find : null;
  const found: JWTVerifyGetKey = (header, token) => {
    const find = held(HELD_MS);
    if (find) return find(header, token);
    throw new Problem("Cannot check this token: the server cannot read the keys of its issuer now; try again later", {
      kind: "unavailable",
    });
  };
  const readNow = async (): Promise<void> => {
    try {
      const { keys } = Keys.parse(await readJson(options.jwks ?? await discovered(issuer)));
      // An issuer that publishes a secret key has made a mistake, so Vis ignores the key.
      const open = keys.filter(({ kty }) => kty !== "oct");
      kept = { find: createLocalJWKSet({ keys: open }), at: now() };
      log.info("token_keys_read", { issuer, keys: open.length });
    } catch (error) {
      log.error("token_keys_not_read", { issuer, error: messageOf(error) });
    }
  };
  const read = async (): Promise<void> => {
    if (!reading && isWithin(PAUSE_MS, triedAt)) return;
    triedAt = now();
    reading ??= readNow().finally(() => reading = null);
    await reading;
  };
  return async (header, token) => {
    const isFresh = held(FRESH_MS) !== null, hasTried = isWithin(FRESH_MS, triedAt);
    const done = isFresh ? null : read();
    if (!hasTried || !held(HELD_MS)) await done;
    try {
      return await found(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    await read();
    return await found(header, token);
  };
}

async function discovered(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const found = Discovery.parse(await readJson(url));
  if (found.issuer !== issuer) {
    throw new Error(`Cannot use ${url}: its issuer is ${found.issuer}, but server.jwt.issuer is ${issuer}`);
  }
  return found.jwks_uri;
}

async function readJson(url: string): Promise<unknown> {
  if (!isSecureUrl(url)) throw new Error(`Cannot read ${url}: it is neither an https address nor on this machine`);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { signal, redirect: "error", headers: { accept: "application/json" } });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`Cannot read ${url}: it responded with status ${response.status}`);
  }
  const tooLarge = () => new Error(`Cannot read ${url}: it is larger than ${MAX_BYTES} bytes, the limit`);
  const bytes = await readBounded(response.body, { maxBytes: MAX_BYTES, tooLarge, signal });
  return readForeignJson(new TextDecoder().decode(bytes));
}
