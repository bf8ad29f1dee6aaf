import { createHash, timingSafeEqual } from "node:crypto";
import { unauthorized } from "../response/problem.ts";
import type { TokenGrant, TokenSource } from "./token_grant.ts";

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
