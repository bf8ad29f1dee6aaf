import type { Conversations } from "../../../conversation/conversations.ts";
import type { Log } from "../../../logging/log.ts";
import type { ExtensionAdmin, ProviderAdmin } from "../../channel.ts";
import type { Rate } from "../auth/rate_limit.ts";
import type { TokenSource } from "../auth/token_grant.ts";

/** What the HTTP channel works with. Whoever gives it closes it, after the server. */
export interface HttpParts {
  readonly conversations: Conversations;
  /** Real path; new conversations belong to it. */
  readonly workspace: string;
  readonly provider: string;
  readonly model: string;
  readonly version: string;
  /** Lists models. */
  readonly admin: Pick<ProviderAdmin, "models">;
  /** Lists extensions. */
  readonly extensions: Pick<ExtensionAdmin, "list">;
  readonly log: Log;
  readonly now: () => number;
  /** Goes around the work for every request; the work tells its route, with names in place of what they stand for. */
  readonly within?: (
    request: Request,
    work: (routed: (route: string) => void) => Promise<Response>,
  ) => Promise<Response>;
  /** What a query needs besides the database: by name what is wrong with it, "" where nothing is. Never rejects. */
  readonly ready?: () => Promise<Readonly<Record<string, string>>>;
  /** Every request that reaches a conversation must carry one of them. */
  readonly tokens: TokenSource;
  /** What they used of this day (UTC) before this process, by their names. */
  readonly usedToday?: readonly { readonly name: string; readonly queries: number; readonly costUsd: number }[];
  /** Names besides its own address under which the server is reached. */
  readonly hosts: readonly string[];
  /** Addresses of reverse proxies, which say in X-Forwarded-For whom they ask for. */
  readonly proxies: readonly string[];
  readonly limits: HttpLimits;
  /** The system's table of TCP connections, as /proc/net/tcp has it, where the runtime does not tell of all clients that
   * leave; null and left out where it does. */
  readonly connectionTable?: (() => Promise<string>) | null;
  /** Paths at which somebody else answers POST requests, which carry what they are known by themselves: no token is
   * asked for. Whoever answers bounds what it reads. */
  readonly hooks?: Readonly<Record<string, (request: Request) => Promise<Response>>>;
}

export interface HttpLimits {
  readonly bodyBytes: number;
  /** For a whole body to arrive. */
  readonly bodyMs: number;
  /** Names and values of all headers. */
  readonly headerBytes: number;
  readonly urlBytes: number;
  /** For running queries when the server is told to end. */
  readonly shutdownMs: number;
  /** Between signs of life on a stream. */
  readonly heartbeatMs: number;
  /** Between looks at a query that another process runs. */
  readonly lookMs: number;
  /** Requests with one token, and from one address. */
  readonly perToken: Rate;
  readonly perAddress: Rate;
  /** Wrong tokens from one address. */
  readonly wrongTokens: Rate;
}
