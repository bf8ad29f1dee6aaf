import type { ModelRoute } from "./router.ts";

/** The routes of a model named "model" or "provider/model". One that no route has is requested from the provider that
 * its name begins with, or else from the first. */
export function namedRoutes(routes: readonly [ModelRoute, ...ModelRoute[]], name: string): readonly ModelRoute[] {
  const named = routes.filter(({ provider, model }) => name === model || name === `${provider.name}/${model}`);
  if (named.length > 0) return named;
  const owner = routes.find(({ provider }) => name.startsWith(`${provider.name}/`));
  const { provider, firstTokenMs, silenceMs } = owner ?? routes[0];
  return [{ provider, model: owner ? name.slice(provider.name.length + 1) : name, firstTokenMs, silenceMs }];
}
