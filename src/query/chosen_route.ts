import { namedRoutes, unpriced } from "../providers/router/named_routes.ts";
import type { ModelPreference, ModelRoute, Router } from "../providers/router/router.ts";

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

/** The model that would serve a query of this name, if its price is unknown. */
export function unpricedRoute(routes: readonly ModelRoute[], name: string | null): ModelRoute | null {
  const [root, ...others] = routes;
  if (root === undefined) return null;
  const prefer = name !== null && isPreference(name) ? name : null;
  return unpriced(name === null || prefer !== null ? routes : namedRoutes([root, ...others], name), { prefer });
}
