import { ConfigError, messageOf } from "../../domain/errors.ts";
import { isLoopback } from "../../domain/kit/addresses.ts";
import { createLog } from "../../logging/log.ts";
import { Credentials } from "../../providers/credentials.ts";
import type { LocalAddress } from "../../providers/models/discover.ts";
import { type ModelRoute, Router } from "../../providers/router/router.ts";
import type { Settings } from "../settings/settings.ts";
import { chooseProviders, type ChosenProviders } from "./choose_providers.ts";
import { makeProvider } from "./make_provider.ts";
import type { ResolvedProvider } from "./resolve_provider.ts";
import { join } from "node:path";

const LIST_MS = 3_000;
/** A model that runs here may have to be loaded, and to read the whole request on a slow processor. */
const LOCAL_FIRST_TOKEN_MS = 1_800_000;
/** Three weeks: about the longest that a timer can wait. */
const UNLIMITED_MS = 1_800_000_000;

/** Wraps every provider without changing it for its callers. */
type Wrap = (provider: ModelRoute["provider"]) => ModelRoute["provider"];

/** The router over the configured providers; throws `ConfigError` that names what to set. */
export async function buildRouter(
  settings: Settings,
  options: { readonly addresses?: readonly LocalAddress[]; readonly wrap?: Wrap | undefined } = {},
): Promise<Router> {
  const { wrap = (provider) => provider } = options;
  const { config } = settings;
  if (config.provider === "demo") {
    const { demoProvider } = await import("../../providers/demo.ts");
    const provider = wrap(demoProvider());
    return new Router({ routes: [{ provider, model: config.model ?? provider.defaultModel }] });
  }
  if (config.provider === "files") {
    if (config.model === null) {
      throw new ConfigError("No folder is set for the provider files: use --model DIR (or set VIS_MODEL)");
    }
    const { filesProvider } = await import("../../providers/files.ts");
    const provider = wrap(await filesProvider(config.model));
    return new Router({
      routes: [{ provider, model: config.model, firstTokenMs: UNLIMITED_MS }],
      replyMs: UNLIMITED_MS,
    });
  }
  const credentials = credentialsOf(settings);
  const choice = await chooseProviders({ settings, credentials, addresses: options.addresses });
  return await routerOf(choice, { wrap, patienceMs: config.retry.patienceMs });
}

/** The keys that `vis auth login` saved. */
export function credentialsOf({ home }: Pick<Settings, "home">): Credentials {
  return new Credentials(home === null ? null : join(home, "auth.json"));
}

async function routerOf(
  { providers, model, notes }: ChosenProviders,
  { wrap, patienceMs }: { readonly wrap: Wrap; readonly patienceMs: number },
): Promise<Router> {
  const routes: ModelRoute[] = [];
  const said: string[] = [...notes];
  const limits: Record<string, NonNullable<ResolvedProvider["rateLimit"]>> = {};
  for (const [at, resolved] of providers.entries()) {
    const asked = at === 0 ? model : null;
    if (asked === null && resolved.defaultModel === null && at > 0) {
      said.push(`${resolved.name} is skipped: it has no model in config.jsonc`);
      continue;
    }
    const root = asked ?? resolved.defaultModel ?? await firstServed(resolved);
    const { provider, knows } = await makeProvider(resolved, root);
    said.push(...addressNotes(resolved));
    if (at === 0 && !knows(root) && !resolved.plain && !resolved.local) said.push(unknownModel(root, resolved));
    const names = [...new Set([root, ...resolved.models.map(({ name }) => name)])];
    const wrapped = wrap(provider);
    for (const name of names) routes.push(routeOf(name, { provider: wrapped, resolved }));
    if (resolved.rateLimit) limits[resolved.name] = resolved.rateLimit;
  }
  return new Router({ routes, limits, notes: said, patienceMs, log: createLog("provider") });
}

/** Where requests go, if the environment moves them or tries to. */
function addressNotes({ name, baseUrl, addressFrom, addressNote }: ResolvedProvider): readonly string[] {
  if (addressNote !== "") return [addressNote];
  return addressFrom === "" ? [] : [`${name} is at ${URL.parse(baseUrl)?.host} (${addressFrom})`];
}

function routeOf(
  model: string,
  { provider, resolved }: { readonly provider: ModelRoute["provider"]; readonly resolved: ResolvedProvider },
): ModelRoute {
  const own = resolved.models.find(({ name }) => name === model);
  const isLocal = resolved.local || isLoopback(URL.parse(resolved.baseUrl)?.hostname ?? "");
  const firstTokenMs = resolved.firstTokenMs ?? (isLocal ? LOCAL_FIRST_TOKEN_MS : undefined);
  const silenceMs = resolved.silenceMs ?? undefined;
  return { provider, model, speed: own?.speed, intelligence: own?.intelligence, firstTokenMs, silenceMs };
}

/** A server on this machine serves the model it has; for any other provider the model must be named. */
async function firstServed(resolved: ResolvedProvider): Promise<string> {
  if (!resolved.local) throw new ConfigError(noModel(resolved));
  const { provider } = await makeProvider(resolved, "");
  let models: readonly string[];
  try {
    models = await provider.models({ signal: AbortSignal.timeout(LIST_MS) });
  } catch (error) {
    const why = messageOf(error);
    throw new ConfigError(`Cannot ask ${resolved.title} for its models: ${why}`);
  }
  const chat = models.find((name) => !/embed|rerank/i.test(name));
  if (chat === undefined) throw new ConfigError(`Cannot use ${resolved.title} at ${resolved.baseUrl}: it has no model`);
  return chat;
}

function noModel({ name, plain }: ResolvedProvider): string {
  const where = plain ? "" : ` for ${name}`;
  return `No model is set${where}: set VIS_MODEL or use --model NAME (vis models${
    plain ? "" : ` --provider ${name}`
  } lists them)`;
}

/** Why every request would be refused, and what to do: the settings limit its cost, and the price of the root model is
 * unknown. Null if that is not so. `serves`: the quota of tokens and users counts too. */
export function unpricedRoot(
  { routes: [root] }: Pick<Router, "routes">,
  { config: { budget, server } }: Pick<Settings, "config">,
  { serves = false }: { readonly serves?: boolean } = {},
): { readonly found: string; readonly fix: string } | null {
  const limit = budget.costUsd !== null
    ? "budget.costUsd"
    : serves && server.quota.costUsdPerDay !== null
    ? "server.quota.costUsdPerDay"
    : null;
  if (limit === null || root === undefined) return null;
  const { provider, model } = root;
  if (provider.capabilities(model).price !== null) return null;
  return {
    found: `the price of ${model} is unknown, so that ${limit} refuses every request`,
    fix: `Set price of ${model} in providers[].models of config.jsonc, or remove ${limit}`,
  };
}

function unknownModel(model: string, { name }: ResolvedProvider): string {
  return `${model} is not a known model: no price, images or reasoning are assumed (describe it in providers of config.jsonc; ` +
    `vis models --provider ${name} lists models)`;
}
