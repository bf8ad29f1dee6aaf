import type { QueryParts } from "./query_parts.ts";

/** Takes out of scope, permanently, what a query forgets when it begins. */
export async function forgetStale(
  parts: Pick<QueryParts, "environment" | "settings">,
  queryId: string,
): Promise<void> {
  const stale = await staleNames(parts, queryId);
  if (stale.length === 0) return;
  const { environment } = parts;
  const { forgotten: names } = await environment.forget(stale);
  const { done } = environment.storing();
  await environment.store.setScope(environment.branch.branchId, { names, scope: "forgotten", queryId });
  done();
}

/** Variables that a query forgets when it begins, if configured: live ones without a comment that none of the preceding
 * queries within that number has defined or changed. `queryId` is the query itself. Input of the query has a
 * comment. */
export async function staleNames(
  { environment, settings }: Pick<QueryParts, "environment" | "settings">,
  queryId: string,
): Promise<readonly string[]> {
  const queries = settings.autoForgetAfter ?? null;
  if (queries === null) return [];
  const { index, store, branch } = environment;
  const unchanged = new Set(await store.unchangedVariables(branch.branchId, { queries, before: queryId }));
  return index.all().filter(({ name, scope, summary }) => {
    return scope === "live" && summary.doc === "" && unchanged.has(name);
  }).map(({ name }) => name);
}
