import { createHash } from "node:crypto";
import { errors, type JWTPayload, jwtVerify } from "jose";
import { DEFAULT_TENANT, TENANT_NAME, TENANT_RULE } from "../../../domain/kit/ids.ts";
import { Problem, unauthorized } from "../response/problem.ts";
import { keySet, type KeySetOptions } from "./key_set.ts";
import type { Quota, TokenGrant, TokenScope } from "./token_grant.ts";

/** Signatures of a public key only: with a shared secret, whoever can check a token could make one. */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
/** How far the clocks of issuer and server may differ. */
const SKEW_SECONDS = 60;
/** The widest first. */
const SCOPES: readonly TokenScope[] = ["admin", "write", "read"];
const SUBJECT = /^[^\p{Cc}]{1,255}$/u;

export interface SignedTokensOptions extends KeySetOptions {
  readonly audience: string;
  /** The claim with the scopes: `vis:read`, `vis:write` or `vis:admin`, in a list or separated by spaces. */
  readonly scopeClaim: string;
  /** The claim with the tenant, which every token must then have; null if all are the default one's. */
  readonly tenantClaim: string | null;
  readonly quota: Quota;
}

/** Checks JSON Web Tokens of one issuer (RFC 9068), whose public keys it reads. Throws `Problem`: 401 for a token that
 * does not count, 403 without a scope, 503 if the keys cannot be read. */
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
    if (!SUBJECT.test(sub)) throw unauthorized("Cannot accept this token: its claim sub cannot be used", true);
    const digest = createHash("sha256").update(token).digest();
    // Names of a list have no colon.
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
  throw new Problem(`Cannot accept this token: its claim ${name} names no tenant. ${TENANT_RULE}`, {
    kind: "insufficient-scope",
  });
}

function faultOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return "it has expired";
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === "nbf" ? "it is not valid yet" : `its claim ${error.claim} is missing or has another value`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return "it is not signed with a public key";
  if (error instanceof errors.JWKSNoMatchingKey) return "its issuer has no such key";
  return "it was not signed by its issuer";
}
