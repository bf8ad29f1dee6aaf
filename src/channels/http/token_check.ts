import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Uint8Array => createHash("sha256").update(text).digest();

/** Whether an `Authorization` header carries the token. How long it takes says nothing about the token: digests of one
 * length are compared, in constant time. */
export class TokenCheck {
  readonly #digest: Uint8Array;

  constructor(token: string) {
    this.#digest = digest(token);
  }

  holds(authorization: string | null): boolean {
    const [, given = ""] = /^Bearer +([\x21-\x7e]{1,512}) *$/i.exec(authorization ?? "") ?? [];
    const same = timingSafeEqual(digest(given), this.#digest);
    return same && given !== "";
  }
}
