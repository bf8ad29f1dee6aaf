import type { EnvironmentView } from "@vis/extension";

type Hit = Awaited<ReturnType<NonNullable<EnvironmentView["db"]>["search"]>>[number];

export interface HistorySearchOptions {
  readonly conversation?: string;
  readonly kind?: "request" | "code" | "answer";
  readonly since?: string | number | Date;
  readonly until?: string | number | Date;
  readonly limit?: number;
}

interface HistoryHit extends Omit<Hit, "at" | "branchId" | "position" | "ownerTable" | "ownerId" | "field"> {
  readonly at: Date;
}

/** `more` is true if there are more hits than the limit. Rejects for an invalid time. */
export async function searchHistory(
  env: EnvironmentView,
  text: string,
  options: HistorySearchOptions = {},
): Promise<{ readonly hits: readonly HistoryHit[]; readonly more: boolean }> {
  const { conversation: conversationId, kind, since, until, limit = 20 } = options;
  const found = await readerOf(env).search(text, {
    limit: limit + 1,
    conversationId,
    kind,
    since: timeOf(since, "since"),
    until: timeOf(until, "until"),
  });
  const hits = found.slice(0, limit).map((
    { kind, snippet, conversationId, title, queryId, iterationId, variable, at },
  ) => (
    { kind, snippet, conversationId, title, queryId, iterationId, variable, at: new Date(at) }
  ));
  return { hits, more: found.length > limit };
}

function timeOf(time: string | number | Date | undefined, key: string): number | undefined {
  if (time === undefined) return undefined;
  const at = new Date(time).getTime();
  if (Number.isNaN(at)) {
    throw new TypeError(
      `Cannot search the history: ${key} is ${JSON.stringify(time)}, not a date such as "2026-11-22"`,
    );
  }
  return at;
}

export function readerOf({ db }: EnvironmentView): NonNullable<EnvironmentView["db"]> {
  if (db) return db;
  throw new Error("Cannot look into the history: this environment has no database");
}
