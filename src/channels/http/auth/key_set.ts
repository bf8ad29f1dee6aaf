import { createLocalJWKSet, errors, type JWTVerifyGetKey } from "jose";
import { z } from "zod";
import { messageOf } from "../../../domain/errors.ts";
import { isSecureUrl } from "../../../domain/kit/addresses.ts";
import { readBounded } from "../../../domain/kit/bytes.ts";
import { readForeignJson } from "../../../domain/kit/json.ts";
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

/** Finds the public key of a token in the set of its issuer (RFC 7517), which is read when a token needs one. Keys that
 * were added are found at once; one that was removed counts for ten more minutes. However many tokens name unknown keys,
 * and whether or not the issuer answers, it is asked at most every ten seconds. Throws `Problem` (503) if no keys are
 * known. */
export function keySet(options: KeySetOptions): JWTVerifyGetKey {
  const { issuer, now, log } = options;
  let kept: { readonly find: JWTVerifyGetKey | null; readonly at: number } = { find: null, at: 0 };
  let triedAt = -PAUSE_MS;
  let reading: Promise<void> | null = null;
  const isWithin = (ms: number, at: number): boolean => now() >= at && now() < at + ms;
  const held = (ms: number): JWTVerifyGetKey | null => isWithin(ms, kept.at) ? kept.find : null;
  const found: JWTVerifyGetKey = (header, token) => {
    const find = held(HELD_MS);
    if (find) return find(header, token);
    throw new Problem("Cannot check this token: the keys of its issuer cannot be read now", { kind: "unavailable" });
  };
  const readNow = async (): Promise<void> => {
    try {
      const { keys } = Keys.parse(await readJson(options.jwks ?? await discovered(issuer)));
      // A secret key in a public document is a mistake of the issuer.
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
    if (!held(HELD_MS)) await read();
    else if (!held(FRESH_MS)) void read();
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
  if (found.issuer !== issuer) throw new Error(`Cannot use ${url}: it is of the issuer ${found.issuer}`);
  return found.jwks_uri;
}

async function readJson(url: string): Promise<unknown> {
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
