import type { EnvironmentView } from "@vis/extension";

export type SearchPlace =
  | { readonly kind: "address"; readonly url: string }
  | { readonly kind: "service"; readonly name: string };

/** The address of the settings precedes the search of the model's service. Returns null if neither exists. */
export function searchPlace({ config, router }: Pick<EnvironmentView, "config" | "router">): SearchPlace | null {
  const { searchUrl = null } = (config ?? {}) as { readonly searchUrl?: string | null };
  if (searchUrl !== null) return { kind: "address", url: searchUrl };
  return router?.search ? { kind: "service", name: router.search.provider } : null;
}
