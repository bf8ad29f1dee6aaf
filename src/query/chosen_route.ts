import { namedRoutes } from "../providers/router/named_routes.ts";
import type { ModelPreference, Router } from "../providers/router/router.ts";

/** The model for which a query is composed: the named one, or the root model. A preference chooses for each call. */
export function chosenRoute(
  router: Pick<Router, "current" | "routes">,
  name: string | null,
): ReturnType<Router["current"]> {
  const root = router.current();
  if (name === null || isPreference(name)) return root;
  const [route = root] = namedRoutes([root, ...router.routes], name);
  return { ...route, capabilities: route.provider.capabilities(route.model) };
}

export const PREFERENCES: readonly ModelPreference[] = ["cost", "speed", "intelligence"];

export function isPreference(name: string): name is ModelPreference {
  return PREFERENCES.some((one) => one === name);
}
