import type { StoredQuery, VariableHead } from "../persistence/store.ts";

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
