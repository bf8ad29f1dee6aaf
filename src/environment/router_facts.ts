import type { RouterFacts } from "../extension/environment_keys.ts";
import type { Router } from "../providers/router/router.ts";

/** What extensions may know of the router; `root` where the query has one of its own. */
export function routerFacts(
  router: Pick<Router, "routes" | "current">,
  root?: RouterFacts["root"],
): RouterFacts {
  const models = Map.groupBy(router.routes, ({ provider }) => provider.name);
  const providers = [...models].map(([name, routes]) =>
    Object.freeze({ name, models: Object.freeze([...new Set(routes.map(({ model }) => model))]) })
  );
  const { provider, model } = router.current();
  return Object.freeze({
    providers: Object.freeze(providers),
    root: Object.freeze({ ...root ?? { provider: provider.name, model } }),
  });
}
