import type { StoredQuery, VariableHead } from "../persistence/store.ts";
import type { QueryParts } from "./query_parts.ts";

/** Names of the live variables without a comment that none of the last `after` queries defined or changed. `queries`
 * are those before the one that begins, oldest first. */
export function staleVariables(
  heads: readonly VariableHead[],
  { queries, after }: { readonly queries: readonly Pick<StoredQuery, "createdAt">[]; readonly after: number },
): string[] {
  const since = queries.at(-after)?.createdAt;
  if (since === undefined) return [];
  return heads.filter(({ scope, summary, createdAt }) => scope === "live" && summary.doc === "" && createdAt < since)
    .map(({ name }) => name);
}

/** Variables that a query forgets when it begins; `queryId` is its own, which does not count. */
export async function staleNames(
  { environment, settings }: Pick<QueryParts, "environment" | "settings">,
  queryId: string,
): Promise<readonly string[]> {
  const after = settings.autoForgetAfter ?? null;
  if (after === null) return [];
  const queries = await environment.store.queries(environment.branch.branchId);
  const before = queries.filter((one) => one.queryId !== queryId);
  return staleVariables(environment.index.all(), { queries: before, after });
}
