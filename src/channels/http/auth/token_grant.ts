/** What a token may do: `write` includes `read`, `admin` both. */
export type TokenScope = "read" | "write" | "admin";

/** Limits of one token; null where there is none. A day begins at midnight UTC. */
export interface Quota {
  readonly queriesPerDay: number | null;
  /** US dollars as the providers' prices say; a query may end above it, none begins then. */
  readonly costUsdPerDay: number | null;
  /** Queries that run at a time. */
  readonly concurrent: number | null;
}

/** One token that opens the server, without the token itself. */
export interface TokenGrant {
  /** Stands in the log and in the list of tokens. */
  readonly name: string;
  /** SHA-256 of the token. */
  readonly digest: Uint8Array;
  readonly scope: TokenScope;
  /** Milliseconds since the epoch; null for a token that does not expire. */
  readonly expiresAt: number | null;
  readonly quota: Quota;
}

/** Where tokens come from; asked for every request, so that a list can change while the server runs. Never rejects. */
export interface TokenSource {
  grants(): Promise<readonly TokenGrant[]>;
}
