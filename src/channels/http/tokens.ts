import { createHash, timingSafeEqual } from "node:crypto";
import type { Config } from "../../config/schema.ts";
import { DEFAULT_TENANT } from "../../domain/kit/ids.ts";
import { unauthorized } from "./problem.ts";

/** The scopes of a token: `write` includes `read`, `admin` includes both. */
export type TokenScope = "read" | "write" | "admin";

/** Limits of one token; null for no limit. A day begins at midnight UTC. A running query may exceed what a day may cost,
 * by the prices of the providers; no new one begins after that. */
export type Quota = Readonly<Config["server"]["quota"]>;

/** One token of the server, without its secret. */
export interface TokenGrant {
  /** Appears in the log and in the list of tokens. */
  readonly name: string;
  /** SHA-256 of the token. */
  readonly digest: Uint8Array;
  readonly scope: TokenScope;
  /** Whose conversations it reaches, and whose it makes. */
  readonly tenant: string;
  /** Whether it reaches those of every tenant. */
  readonly all: boolean;
  /** Milliseconds since the epoch; null for a token that does not expire. */
  readonly expiresAt: number | null;
  readonly quota: Quota;
}

/** Provides the tokens. */
export interface TokenSource {
  /** Called for every request, so that a list can change while the server runs. Never rejects. */
  grants(): Promise<readonly TokenGrant[]>;
  /** What is wrong with where the tokens come from, although they are valid; "" if nothing. Never rejects. */
  fault?(): Promise<string>;
  /** Checks a JSON Web Token; absent if they are not accepted. Throws `Problem`. */
  signed?(token: string): Promise<TokenGrant>;
}

/** The single token of a server without a list of tokens. It has every scope. */
export function oneToken(token: string, quota: Quota): TokenSource {
  const digest = createHash("sha256").update(token).digest();
  const grants = [{
    name: "server",
    digest,
    scope: "admin" as const,
    tenant: DEFAULT_TENANT,
    all: true,
    expiresAt: null,
    quota,
  }];
  return { grants: () => Promise.resolve(grants) };
}

/** Three parts in base64url: what a JSON Web Token looks like. */
const SIGNED = /^[\w-]+\.[\w-]+\.[\w-]+$/;

interface CheckOptions {
  readonly tokens: TokenSource;
  readonly now: () => number;
  /** Compares two digests of equal length in constant time. */
  readonly equal?: (a: Uint8Array, b: Uint8Array) => boolean;
}

/** Finds the token of an `Authorization` header. The duration reveals nothing about any token: digests of equal length
 * are compared in constant time, and every digest is compared even after a match. Throws `Problem`: 401 for a missing,
 * unknown or expired token, otherwise like `TokenSource.signed`. */
export async function checkToken(
  authorization: string | null,
  { tokens, now, equal = timingSafeEqual }: CheckOptions,
): Promise<TokenGrant> {
  const [, token = ""] = /^Bearer +([\x21-\x7e]{1,8192}) *$/i.exec(authorization ?? "") ?? [];
  const digest = createHash("sha256").update(token).digest();
  const same = (await tokens.grants()).filter((grant) => equal(digest, grant.digest));
  const [found] = token === "" ? [] : same;
  if (!found && tokens.signed && SIGNED.test(token)) return await tokens.signed(token);
  if (!found) {
    throw unauthorized(
      "Cannot serve without a valid token: send the header Authorization: Bearer TOKEN",
      token !== "",
    );
  }
  if (found.expiresAt !== null && found.expiresAt <= now()) {
    throw unauthorized("Cannot accept this token: it has expired", true);
  }
  return found;
}
