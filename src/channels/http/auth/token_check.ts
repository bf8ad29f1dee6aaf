import { createHash, timingSafeEqual } from "node:crypto";
import { Problem } from "../response/problem.ts";
import type { TokenGrant, TokenSource } from "./token_grant.ts";

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

  /** Throws `Problem` (401) for a missing, unknown or expired token. */
  async find(authorization: string | null): Promise<TokenGrant> {
    const [, token = ""] = /^Bearer +([\x21-\x7e]{1,512}) *$/i.exec(authorization ?? "") ?? [];
    const digest = createHash("sha256").update(token).digest();
    const same = (await this.#source.grants()).filter((grant) => this.#equal(digest, grant.digest));
    const [found] = token === "" ? [] : same;
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

function unauthorized(detail: string, isWrong: boolean): Problem {
  const why = isWrong ? ', error="invalid_token"' : "";
  return new Problem(detail, { kind: "unauthorized", headers: { "www-authenticate": `Bearer realm="vis"${why}` } });
}
