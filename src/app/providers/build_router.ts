import { join } from "node:path";
import { Cancelled, ConfigError, messageOf } from "../../domain/errors.ts";
import { isLoopback } from "../../domain/kit/addresses.ts";
import { createLog } from "../../logging/log.ts";
import { Credentials } from "../../providers/credentials.ts";
import { loadModelData, type ModelData } from "../../providers/models/model_data.ts";
import {
  generalModel,
  isChatModel,
  type LocalAddress,
  type Preset,
  PRESETS,
} from "../../providers/models/known_providers.ts";
import { type Capabilities, type Price, type Provider, UNKNOWN_MODEL } from "../../providers/provider.ts";
import { Router } from "../../providers/router/router.ts";
import type { ModelRoute } from "../../providers/router/routes.ts";
import type { Advice, WireProtocol } from "../../providers/wire/wire.ts";
import type { Settings } from "../settings/settings.ts";
import { chooseProviders, type ChosenProviders, type ResolvedProvider } from "./choose_providers.ts";

const LIST_MS = 3_000;
/** A local server without a GPU may need many minutes to read the prompt. */
const LOCAL_FIRST_TOKEN_MS = 1_800_000;
/** Timers hold at most 24 days, so these 20 days mean no limit. */
const UNLIMITED_MS = 1_800_000_000;

type Wrap = (provider: ModelRoute["provider"]) => ModelRoute["provider"];

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
      throw new ConfigError("Cannot use the provider files: no folder is set; use --model DIR or VIS_MODEL");
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
      said.push(
        `Vis skips ${resolved.name}: it has no model in config.jsonc (add one to models of its entry in providers)`,
      );
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

/** A remote service may charge for a model that Vis does not know, so the user must name such a model. */
async function firstServed(resolved: ResolvedProvider): Promise<string> {
  const { provider, knows } = await makeProvider(resolved, "");
  if (!resolved.local) {
    const names = await provider.models({ signal: AbortSignal.timeout(LIST_MS) }).catch(() => []);
    const preset = resolved.preset === null ? null : PRESETS[resolved.preset] ?? null;
    const general = generalModel(names, { preset, knows });
    if (general !== null) return general;
    const chat = names.filter(isChatModel).toSorted((a, b) => Number(knows(b)) - Number(knows(a)));
    throw new ConfigError(noModel(resolved, chat), { code: "no_model" });
  }
  let models: readonly string[];
  try {
    models = await provider.models({ signal: AbortSignal.timeout(LIST_MS) });
  } catch (error) {
    if (!(error instanceof Cancelled)) throw new ConfigError(messageOf(error));
    throw new ConfigError(
      `Cannot list the models of ${resolved.title} at ${resolved.baseUrl}: it sent no list within ` +
        `${LIST_MS / 1000} s, the limit; name a model with --model`,
    );
  }
  const chat = models.find(isChatModel);
  if (chat === undefined) {
    throw new ConfigError(
      `Cannot use ${resolved.title} at ${resolved.baseUrl}: it lists no chat model; load one in ${resolved.title}`,
    );
  }
  return chat;
}

function noModel(
  { name, plain }: ResolvedProvider,
  [first = "NAME", ...others]: readonly string[],
): string {
  const where = plain ? "" : ` for ${name}`;
  const more = others.length === 0 ? "" : `, or another model, such as ${others.slice(0, 3).join(" or ")} `;
  return `Cannot choose a model${where}: no model is set; set VIS_MODEL or use --model ${first}${more || " "}` +
    `(vis models${plain ? "" : ` --provider ${name}`} lists the models)`;
}

export function unpricedRoot(
  { routes: [root] }: Pick<Router, "routes">,
  { config: { budget, server }, locked }: Pick<Settings, "config" | "locked">,
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
  const isLocked = serves && locked !== undefined;
  const why = isLocked && budget.costUsd === null
    ? `the locked profile's limit of ${server.quota.costUsdPerDay} US dollars a day`
    : `${limit} ($${budget.costUsd ?? server.quota.costUsdPerDay})`;
  const fix = `Set the price of ${model} in providers[].models of config.jsonc`;
  return {
    found: `no price is known for ${model}, so Vis refuses its requests because of ${why}`,
    // If the user removes the limit, the locked profile sets its own limit.
    fix: isLocked ? fix : `${fix}, or remove ${limit}`,
  };
}

function unknownModel(model: string, { name }: ResolvedProvider): string {
  return `${model} is not a known model, so Vis assumes no price, no images and no reasoning (describe the model in providers of config.jsonc; ` +
    `vis models --provider ${name} lists models)`;
}

interface MadeProvider {
  readonly provider: Provider;
  knows(model: string): boolean;
}

type OwnModel = ResolvedProvider["models"][number];

export const FREE_PRICE = { input: 0, output: 0, cached: 0 };

export async function makeProvider(resolved: ResolvedProvider, defaultModel: string): Promise<MadeProvider> {
  const data = resolved.data === null ? null : await loadModelData(resolved.data, resolved.home);
  const capabilities = (model: string) => capabilitiesOf(model, { resolved, data });
  const knows = (model: string) =>
    data?.find(model) !== null && data !== null || resolved.models.some(({ name }) => name === model);
  return { provider: await create(resolved, { defaultModel, capabilities, data }), knows };
}

export function capabilitiesOf(
  model: string,
  { resolved, data }: { readonly resolved: ResolvedProvider; readonly data: ModelData | null },
): Capabilities {
  const known = data?.find(model) ?? (resolved.local ? { ...UNKNOWN_MODEL, price: FREE_PRICE } : UNKNOWN_MODEL);
  const own = resolved.models.find(({ name }) => name === model);
  const search = searchOf(resolved);
  const price = own?.price ? priceOf(own.price) : known.price;
  return {
    ...known,
    price: price && search ? { search: search.usd, ...price } : price,
    ...(own?.search ?? search !== null ? { search: true } : {}),
    ...(own === undefined ? {} : {
      contextTokens: own.contextTokens ?? known.contextTokens,
      nativeReasoning: own.reasoning ?? known.nativeReasoning,
      images: own.images ?? known.images,
      alternatingRoles: own.alternatingRoles ?? known.alternatingRoles,
    }),
  };
}

function searchOf({ preset, baseUrl }: ResolvedProvider): Preset["search"] | null {
  const { search, baseUrl: own } = preset === null ? {} : PRESETS[preset] ?? {};
  return search && baseUrl === own ? search : null;
}

function priceOf({ input, output, cached = input, cacheWrite, search }: NonNullable<OwnModel["price"]>): Price {
  return {
    ...{ input, output, cached },
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(search === undefined ? {} : { search }),
  };
}

async function create(
  resolved: ResolvedProvider,
  { defaultModel, capabilities, data }: {
    readonly defaultModel: string;
    readonly capabilities: (model: string) => Capabilities;
    readonly data: ModelData | null;
  },
): Promise<Provider> {
  const { name, baseUrl, key, headers } = resolved;
  // For a bearer key, `headers` already contains the key.
  const isBearer = resolved.preset !== null && PRESETS[resolved.preset]?.bearerName === key.from;
  const { createProvider } = await import("../../providers/wire/wire_provider.ts");
  if (resolved.need === "device-login") {
    const { CopilotProvider, copilotEndpoints } = await import("../../providers/copilot.ts");
    return new CopilotProvider({
      name,
      defaultModel,
      capabilities,
      headers,
      endpoints: copilotEndpoints(key.domain ?? "github.com"),
      githubToken: key.value ?? "",
      usesResponses: (model) => data?.find(model)?.responses ?? false,
      create: createProvider,
    });
  }
  const options = {
    ...{ name, baseUrl, headers, defaultModel, capabilities },
    token: resolved.plain ? key.value ?? "" : () => Promise.resolve(isBearer ? null : key.value),
    advice: adviceOf(resolved),
  };
  const provider = await createProvider(resolved.protocol, options);
  const searching = searchProtocol(resolved);
  if (searching === resolved.protocol) return provider;
  return searchedBy(provider, () => createProvider(searching, options));
}

/** Only the Responses API of OpenAI-compatible services has the web search that Vis uses. */
function searchProtocol({ preset, protocol }: ResolvedProvider): WireProtocol {
  const own = preset === null ? undefined : PRESETS[preset]?.search?.protocol;
  return own ?? (protocol === "openai-chat" ? "openai-responses" : protocol);
}

function searchedBy(provider: Provider, searcher: () => Promise<Provider>): Provider {
  let made: Promise<Provider> | null = null;
  return {
    name: provider.name,
    defaultModel: provider.defaultModel,
    models: (options) => provider.models(options),
    capabilities: (model) => provider.capabilities(model),
    async *stream(request) {
      yield* (request.search ? await (made ??= searcher()) : provider).stream(request);
    },
  };
}

function adviceOf(
  { name, preset, plain, addressFrom, addressSetting, proxyFrom, key: { from } }: ResolvedProvider,
): Advice {
  const given = addressSetting ?? addressFrom;
  const baseUrl = given || (preset === null ? `the baseUrl of ${name} in config.jsonc` : `the base URL of ${name}`);
  if (plain) return { key: from || "VIS_API_KEY", baseUrl, model: "the model (vis models)", proxy: proxyFrom };
  return {
    proxy: proxyFrom,
    key: ["", "auth.json", "typed"].includes(from) ? `the key (vis auth login ${name})` : from,
    baseUrl,
    model: `the model (vis models --provider ${name})`,
  };
}
