import type { Config } from "../../../config/schema.ts";

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
