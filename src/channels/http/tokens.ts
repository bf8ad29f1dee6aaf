import { createHash, timingSafeEqual } from "node:crypto";
import type { Config } from "../../config/schema.ts";
import { DEFAULT_TENANT } from "../../domain/kit/ids.ts";
import { counted, dollarText } from "../../domain/kit/text.ts";
import type { QueryResult } from "../../domain/query/query_schemas.ts";
import type { LabelUse } from "../../domain/records/conversations.ts";
import { Problem, unauthorized } from "./problem.ts";

/** `admin` includes `write`, and `write` includes `read`. */
export type TokenScope = "read" | "write" | "admin";

/** Null means no limit. The day begins at midnight UTC. A running query may exceed `costUsdPerDay`. */
export type Quota = Readonly<Config["server"]["quota"]>;

export interface TokenGrant {
  readonly name: string;
  readonly digest: Uint8Array;
  readonly scope: TokenScope;
  readonly tenant: string;
  readonly all: boolean;
  readonly expiresAt: number | null;
  readonly quota: Quota;
}

export interface TokenSource {
  /** The server calls this for each request, because the list can change. Must not reject. */
  grants(): Promise<readonly TokenGrant[]>;
  fault?(): Promise<string>;
  /** The method is undefined if the server does not accept JSON Web Tokens. */
  signed?(token: string): Promise<TokenGrant>;
}

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

const SIGNED = /^[\w-]+\.[\w-]+\.[\w-]+$/;

interface CheckOptions {
  readonly tokens: TokenSource;
  readonly now: () => number;
  readonly equal?: (a: Uint8Array, b: Uint8Array) => boolean;
}

/** The comparison takes constant time, so that its duration reveals no token. */
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
    const why = token === ""
      ? "it has no bearer token; send the header Authorization: Bearer TOKEN"
      : "the server does not know its token; send a token of this server";
    throw unauthorized(`Cannot serve the request: ${why}`, token !== "");
  }
  if (found.expiresAt !== null && found.expiresAt <= now()) {
    throw unauthorized("Cannot accept this token: it has expired; use a new one", true);
  }
  return found;
}

const DAY_MS = 24 * 3_600_000;

export type TokenUse = Readonly<Omit<Use, "day">>;

interface QuotaLease {
  end(result: QueryResult | null): void;
  undo(): void;
}

interface Use {
  day: number;
  queries: number;
  costUsd: number;
  running: number;
}

export function callerLabel(way: "http" | "openai", { name }: Pick<TokenGrant, "name">): string {
  return `${way}:${name}`;
}

export class Quotas {
  readonly #now: () => number;
  readonly #uses = new Map<string, Use>();

  constructor(now: () => number, before: readonly LabelUse[] = []) {
    this.#now = now;
    this.learn(before);
  }

  /** The database also counts the use of other nodes, so the higher number applies. */
  learn(stored: readonly LabelUse[]): void {
    for (const [name, entries] of Map.groupBy(stored, ({ label }) => /^(?:http|openai):(.+)$/.exec(label)?.[1])) {
      if (name === undefined) continue;
      const use = this.#today(name);
      const sum = (of: "queries" | "costUsd"): number => entries.reduce((all, entry) => all + entry[of], 0);
      use.queries = Math.max(use.queries, sum("queries"));
      use.costUsd = Math.max(use.costUsd, sum("costUsd"));
    }
  }

  used({ name }: Pick<TokenGrant, "name">): TokenUse {
    const { queries, costUsd, running } = this.#today(name);
    return { queries, costUsd, running };
  }

  begin({ name, quota }: Pick<TokenGrant, "name" | "quota">): QuotaLease {
    const use = this.#today(name);
    this.#check(use, quota);
    const { day } = use;
    use.queries++;
    use.running++;
    let over = false;
    const once = (work: () => void): void => {
      if (over) return;
      over = true;
      use.running--;
      work();
    };
    return {
      end: (result) => once(() => void (this.#today(name).costUsd += result?.costUsd ?? 0)),
      undo: () => once(() => void (use.queries -= use.day === day ? 1 : 0)),
    };
  }

  #check(use: Use, { queriesPerDay, costUsdPerDay, concurrent }: Quota): void {
    if (concurrent !== null && use.running >= concurrent) {
      const running = counted(concurrent, "request");
      throw refused(`Cannot start the request: this token already runs ${running}, its limit; wait until one ends`, 1);
    }
    const seconds = Math.ceil(((use.day + 1) * DAY_MS - this.#now()) / 1000);
    if (queriesPerDay !== null && use.queries >= queriesPerDay) {
      throw refused(
        `Cannot start the request: this token has used its limit of ${counted(queriesPerDay, "request")} for today; ` +
          "try again after 00:00 UTC",
        seconds,
      );
    }
    if (costUsdPerDay !== null && use.costUsd >= costUsdPerDay) {
      throw refused(
        `Cannot start the request: this token has spent its limit of ${dollarText(costUsdPerDay)} for today; ` +
          "try again after 00:00 UTC",
        seconds,
      );
    }
  }

  #today(name: string): Use {
    const day = Math.floor(this.#now() / DAY_MS);
    const known = this.#uses.get(name) ?? { day, queries: 0, costUsd: 0, running: 0 };
    if (known.day !== day) Object.assign(known, { day, queries: 0, costUsd: 0 });
    this.#uses.set(name, known);
    return known;
  }
}

function refused(detail: string, seconds: number): Problem {
  return new Problem(detail, { kind: "quota", headers: { "retry-after": String(Math.max(1, seconds)) } });
}
