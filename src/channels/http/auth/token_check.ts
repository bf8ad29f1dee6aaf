import { createHash, timingSafeEqual } from "node:crypto";
import type { TokenGrant, TokenSource } from "./token_grant.ts";
import { unauthorized } from "./unauthorized.ts";

/** Three parts in base64url: what a JSON Web Token looks like. */
const SIGNED = /^[\w-]+\.[\w-]+\.[\w-]+$/;

interface CheckOptions {
  readonly now: () => number;
  /** Compares two digests of equal length in constant time. */
  readonly equal?: (a: Uint8Array, b: Uint8Array) => boolean;
}

/** Finds the token of an `Authorization` header. The duration reveals nothing about any token: digests of equal length
 * are compared in constant time, and every digest is compared even after a match. */
export class TokenCheck {
  readonly #source: TokenSource;
  readonly #now: () => number;
  readonly #equal: (a: Uint8Array, b: Uint8Array) => boolean;

  constructor(source: TokenSource, { now, equal = timingSafeEqual }: CheckOptions) {
    this.#source = source;
    this.#now = now;
    this.#equal = equal;
  }

  /** Throws `Problem`: 401 for a missing, unknown or expired token, otherwise like `TokenSource.signed`. */
  async find(authorization: string | null): Promise<TokenGrant> {
    const [, token = ""] = /^Bearer +([\x21-\x7e]{1,8192}) *$/i.exec(authorization ?? "") ?? [];
    const digest = createHash("sha256").update(token).digest();
    const same = (await this.#source.grants()).filter((grant) => this.#equal(digest, grant.digest));
    const [found] = token === "" ? [] : same;
    if (!found && this.#source.signed && SIGNED.test(token)) return await this.#source.signed(token);
    if (!found) {
      throw unauthorized(
        "Cannot serve without a valid token: send the header Authorization: Bearer TOKEN",
        token !== "",
      );
    }
    if (found.expiresAt !== null && found.expiresAt <= this.#now()) {
      throw unauthorized("Cannot accept this token: it has expired", true);
    }
    return found;
  }
}
