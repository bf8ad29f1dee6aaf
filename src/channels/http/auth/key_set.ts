import { createLocalJWKSet, errors, type JWTVerifyGetKey } from "jose";
import { z } from "zod";
import { isSecureUrl } from "../../../domain/kit/is_secure_url.ts";
import { messageOf } from "../../../domain/kit/message_of.ts";
import { readBounded } from "../../../domain/kit/read_bounded.ts";
import { readForeignJson } from "../../../domain/text/read_foreign_json.ts";
import type { Log } from "../../../logging/log.ts";
import { Problem } from "../response/problem.ts";

/** Keys are read again after this. */
const FRESH_MS = 600_000;
/** How long the keys that were read last are used if they cannot be read again. */
const HELD_MS = 24 * 3_600_000;
/** Time between two attempts to read them. */
const PAUSE_MS = 10_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1 << 18;
const MAX_KEYS = 100;

const Keys = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(MAX_KEYS) });
const Discovery = z.object({ issuer: z.string(), jwks_uri: z.string() });

export interface KeySetOptions {
  readonly issuer: string;
  /** Where the keys are; null if the discovery document of the issuer says it. */
  readonly jwks: string | null;
  readonly now: () => number;
  readonly log: Log;
}

/** The public keys of an issuer of tokens (RFC 7517), read when a token needs one. Keys that were added are found at
 * once; one that was removed counts for ten more minutes. However many tokens name unknown keys, and whether or not the
 * issuer answers, it is asked at most every ten seconds. */
export class KeySet {
  readonly #options: KeySetOptions;
  #kept: { readonly find: JWTVerifyGetKey; readonly at: number } | null = null;
  #triedAt: number | null = null;
  #reading: Promise<void> | null = null;

  constructor(options: KeySetOptions) {
    this.#options = options;
  }

  /** The key of a token. Throws `Problem` (503) if no keys are known. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (!this.#held(HELD_MS)) await this.#read();
    else if (!this.#held(FRESH_MS)) void this.#read();
    try {
      return await this.#keys()(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    await this.#read();
    return await this.#keys()(header, token);
  };

  #keys(): JWTVerifyGetKey {
    const kept = this.#held(HELD_MS);
    if (kept) return kept;
    throw new Problem("Cannot check this token: the keys of its issuer cannot be read now", { kind: "unavailable" });
  }

  #held(ms: number): JWTVerifyGetKey | null {
    return this.#kept && this.#isWithin(ms, this.#kept.at) ? this.#kept.find : null;
  }

  #isWithin(ms: number, at: number): boolean {
    const now = this.#options.now();
    return now >= at && now < at + ms;
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    if (!this.#reading && this.#triedAt !== null && this.#isWithin(PAUSE_MS, this.#triedAt)) return;
    this.#triedAt = this.#options.now();
    this.#reading ??= this.#readNow().finally(() => this.#reading = null);
    await this.#reading;
  }

  async #readNow(): Promise<void> {
    const { issuer, jwks, now, log } = this.#options;
    try {
      const { keys } = Keys.parse(await this.#json(jwks ?? await this.#discovered(issuer)));
      // A secret key in a public document is a mistake of the issuer.
      const open = keys.filter(({ kty }) => kty !== "oct");
      this.#kept = { find: createLocalJWKSet({ keys: open }), at: now() };
      log.info("token_keys_read", { issuer, keys: open.length });
    } catch (error) {
      log.error("token_keys_not_read", { issuer, error: messageOf(error) });
    }
  }

  async #discovered(issuer: string): Promise<string> {
    const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const found = Discovery.parse(await this.#json(url));
    if (found.issuer !== issuer) throw new Error(`Cannot use ${url}: it is of the issuer ${found.issuer}`);
    return found.jwks_uri;
  }

  async #json(url: string): Promise<unknown> {
    if (!isSecureUrl(url)) throw new Error(`Cannot read ${url}: it must begin with https`);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { signal, redirect: "error", headers: { accept: "application/json" } });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new Error(`Cannot read ${url}: its status is ${response.status}`);
    }
    const tooLarge = () => new Error(`Cannot read ${url}: it has more than ${MAX_BYTES} bytes`);
    const bytes = await readBounded(response.body, { maxBytes: MAX_BYTES, tooLarge, signal });
    return readForeignJson(new TextDecoder().decode(bytes));
  }
}
