import type { ModelPreference, ModelRoute } from "./router.ts";

/** The routes of a model named "model" or "provider/model". One that no route has is requested from the provider that
 * its name begins with, or else from the first. */
export function namedRoutes(routes: readonly [ModelRoute, ...ModelRoute[]], name: string): readonly ModelRoute[] {
  const named = routes.filter(({ provider, model }) => name === model || name === `${provider.name}/${model}`);
  if (named.length > 0) return named;
  const owner = routes.find(({ provider }) => name.startsWith(`${provider.name}/`));
  const { provider, firstTokenMs, silenceMs } = owner ?? routes[0];
  return [{ provider, model: owner ? name.slice(provider.name.length + 1) : name, firstTokenMs, silenceMs }];
}

/** The first model that a request would be sent to, if its price is unknown; null if it is known. With a preference,
 * models with an unknown price are left out, so that only the lack of any other is a fault. */
export function unpriced(
  routes: readonly ModelRoute[],
  { prefer }: { readonly prefer: ModelPreference | null },
): ModelRoute | null {
  const [first = null] = routes;
  return isPriced(first) || prefer !== null && routes.some(isPriced) ? null : first;
}

export function isPriced(route: ModelRoute | null): boolean {
  return route !== null && route.provider.capabilities(route.model).price !== null;
}

/** The cause and the advice of an error: a limit of the cost would not limit a model with an unknown price. */
export function unpricedText({ provider, model }: ModelRoute): string {
  return `its price is unknown, so that its cost cannot be limited; set price of ${model} in providers[].models of ` +
    `config.jsonc (provider ${provider.name}), or choose a model with a known price (vis models)`;
}
