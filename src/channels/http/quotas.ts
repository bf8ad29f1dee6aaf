import type { QueryResult } from "../../domain/query/query_schemas.ts";
import type { LabelUse } from "../../domain/records/conversations.ts";
import { Problem } from "./problem.ts";
import type { Quota, TokenGrant } from "./tokens.ts";

const DAY_MS = 24 * 3_600_000;

/** What a token has used today. */
export type TokenUse = Readonly<Omit<Use, "day">>;

/** Call once, when the query has ended or if it never began. */
interface QuotaLease {
  end(result: QueryResult | null): void;
  undo(): void;
}

interface Use {
  day: number;
  queries: number;
  costUsd: number;
  /** Queries that are running now. */
  running: number;
}

/** The label of a query: the API it came through and the name of the token. */
export function callerLabel(way: "http" | "openai", { name }: Pick<TokenGrant, "name">): string {
  return `${way}:${name}`;
}

/** Counts what each token uses and enforces its quota. */
export class Quotas {
  readonly #now: () => number;
  readonly #uses = new Map<string, Use>();

  /** `before`: today's usage from before this process started. */
  constructor(now: () => number, before: readonly LabelUse[] = []) {
    this.#now = now;
    this.learn(before);
  }

  /** Takes today's usage from the database, where it is more: other nodes add to it. Labels that `callerLabel` did not
   * give belong to no token. */
  learn(stored: readonly LabelUse[]): void {
    // A token has one label for each API.
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

  /** Counts a query that begins. Throws `Problem` (429) if the token's quota is used up. */
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
      throw refused(`Cannot start a query: this token already runs ${concurrent}, its limit`, 1);
    }
    const seconds = Math.ceil(((use.day + 1) * DAY_MS - this.#now()) / 1000);
    if (queriesPerDay !== null && use.queries >= queriesPerDay) {
      throw refused(`Cannot start a query: this token has used its ${queriesPerDay} queries for today`, seconds);
    }
    if (costUsdPerDay !== null && use.costUsd >= costUsdPerDay) {
      throw refused(`Cannot start a query: this token has spent its ${costUsdPerDay} US dollars for today`, seconds);
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
