import type { EnvironmentView } from "@vis/extension";
import { readerOf } from "./reader.ts";

type Hit = Awaited<ReturnType<NonNullable<EnvironmentView["db"]>["search"]>>[number];

export interface HistorySearchOptions {
  readonly conversation?: string;
  readonly kind?: "request" | "code" | "answer";
  readonly since?: string | number | Date;
  readonly until?: string | number | Date;
  readonly limit?: number;
}

export interface HistoryHit extends Omit<Hit, "at" | "branchId" | "position" | "ownerTable" | "ownerId" | "field"> {
  readonly at: Date;
}

/** `history.search`. Throws for an invalid time. */
export async function searchHistory(
  env: EnvironmentView,
  text: string,
  options: HistorySearchOptions = {},
): Promise<readonly HistoryHit[]> {
  const { conversation: conversationId, kind, since, until, limit = 20 } = options;
  const hits = await readerOf(env).search(text, {
    limit,
    conversationId,
    kind,
    since: timeOf(since, "since"),
    until: timeOf(until, "until"),
  });
  return hits.map(({ kind, snippet, conversationId, title, queryId, iterationId, variable, at }) => (
    { kind, snippet, conversationId, title, queryId, iterationId, variable, at: new Date(at) }
  ));
}

function timeOf(time: string | number | Date | undefined, key: string): number | undefined {
  if (time === undefined) return undefined;
  const at = new Date(time).getTime();
  if (Number.isNaN(at)) throw new TypeError(`Cannot search: ${key} must be a date, such as "2026-11-22"`);
  return at;
}
