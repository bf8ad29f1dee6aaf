import type { ModelMessage, Provider } from "../provider.ts";
import { ProviderError } from "../../domain/errors.ts";

export type ModelPreference = "cost" | "speed" | "intelligence";

export interface ModelRoute {
  readonly provider: Provider;
  readonly model: string;
  readonly speed?: number | undefined;
  readonly intelligence?: number | undefined;
  readonly firstTokenMs?: number | undefined;
  readonly silenceMs?: number | undefined;
}

/** The name has the form "model" or "provider/model". If the model has no route, the result is a new route at the named
 * provider or at the first provider. */
export function namedRoutes(routes: readonly [ModelRoute, ...ModelRoute[]], name: string): readonly ModelRoute[] {
  const named = routes.filter(({ provider, model }) => name === model || name === `${provider.name}/${model}`);
  if (named.length > 0) return named;
  const owner = routes.find(({ provider }) => name.startsWith(`${provider.name}/`));
  const { provider, firstTokenMs, silenceMs } = owner ?? routes[0];
  return [{ provider, model: owner ? name.slice(provider.name.length + 1) : name, firstTokenMs, silenceMs }];
}

export function unpriced(
  routes: readonly ModelRoute[],
  { prefer }: { readonly prefer: ModelPreference | null },
): ModelRoute | null {
  const [first = null] = routes;
  return isPriced(first) || prefer !== null && routes.some(isPriced) ? null : first;
}

function isPriced(route: ModelRoute | null): boolean {
  return route !== null && route.provider.capabilities(route.model).price !== null;
}

export function unpricedText({ provider, model }: ModelRoute): string {
  return `its price is unknown, so Vis cannot limit its cost; set the price of ${model} in providers[].models ` +
    `of config.jsonc (provider ${provider.name}), or choose a model with a known price (vis models)`;
}

const REPLY_TOKENS = 4_096;

export function fittingRoutes(
  routes: readonly ModelRoute[],
  request: {
    readonly messages: readonly ModelMessage[];
    readonly tokens: number;
    readonly prefer: ModelPreference | null;
    readonly priced?: boolean;
    readonly search?: boolean;
  },
): readonly ModelRoute[] {
  const withImages = request.messages.some(({ images }) => images !== undefined && images.length > 0);
  const searching = request.search ? routes.filter((route) => capabilitiesOf(route).search) : routes;
  if (searching.length === 0) {
    throw new ProviderError(`Cannot search the web: Vis knows no search of the service for ${namesOf(routes)}`, {
      code: "refused",
      retryable: false,
    });
  }
  const seeing = withImages ? searching.filter((route) => capabilitiesOf(route).images) : searching;
  if (seeing.length === 0) {
    throw new ProviderError(
      `Cannot send images: Vis does not know that ${namesOf(routes)} accepts images; choose another model, or set ` +
        '"images": true for a model in the settings',
      {
        code: "refused",
        retryable: false,
      },
    );
  }
  const large = seeing.filter((route) => {
    const { contextTokens } = capabilitiesOf(route);
    return contextTokens === null || request.tokens + REPLY_TOKENS <= contextTokens;
  });
  // The number of tokens is an estimate, so the service decides if no context seems large enough.
  const fitting = large.length > 0 ? large : seeing;
  const ordered = request.prefer === null ? fitting : fitting.toSorted(ORDER[request.prefer]);
  if (!request.priced) return ordered;
  const refused = unpriced(ordered, request);
  if (refused === null) return ordered.filter(isPriced);
  throw new ProviderError(`Cannot call ${refused.model}: ${unpricedText(refused)}`, {
    code: "refused",
    retryable: false,
  });
}

function namesOf(routes: readonly ModelRoute[]): string {
  return routes.map(({ model }) => model).join(" or ");
}

type Order = (a: ModelRoute, b: ModelRoute) => number;

const ORDER: Readonly<Record<ModelPreference, Order>> = {
  cost: (a, b) => rising(priceOf(a), priceOf(b)),
  speed: (a, b) => falling(a.speed, b.speed) || reasoningOf(a) - reasoningOf(b) || rising(priceOf(a), priceOf(b)),
  intelligence: (a, b) =>
    falling(a.intelligence, b.intelligence) || reasoningOf(b) - reasoningOf(a) || falling(priceOf(a), priceOf(b)),
};

function capabilitiesOf({ provider, model }: ModelRoute) {
  return provider.capabilities(model);
}

function priceOf(route: ModelRoute): number | undefined {
  const { price } = capabilitiesOf(route);
  return price === null ? undefined : price.input * 0.8 + price.output * 0.2;
}

function reasoningOf(route: ModelRoute): number {
  return capabilitiesOf(route).nativeReasoning ? 1 : 0;
}

function rising(a: number | undefined, b: number | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a - b;
}

function falling(a: number | undefined, b: number | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return b - a;
}
