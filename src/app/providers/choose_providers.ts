import { ConfigError } from "../../domain/errors.ts";
import { isLoopback } from "../../domain/kit/addresses.ts";
import { discoverLocal, type LocalAddress, type LocalServer, usualAddresses } from "../../providers/models/discover.ts";
import { loadModelData } from "../../providers/models/model_data.ts";
import { environmentAddress, PRESETS } from "../../providers/models/presets.ts";
import type { Settings } from "../settings/settings.ts";
import {
  isProvider,
  keyAdvice,
  type ResolvedProvider,
  type ResolveParts,
  resolveProvider,
} from "./resolve_provider.ts";
import { serverName } from "./server_name.ts";

/** The chosen providers, the root first, and notes about the choice. */
export interface ChosenProviders {
  readonly providers: readonly [ResolvedProvider, ...ResolvedProvider[]];
  /** The root's model; null if none was requested. */
  readonly model: string | null;
  readonly notes: readonly string[];
}

export interface ChooseParts extends ResolveParts {
  readonly settings: ResolveParts["settings"] & Pick<Settings, "apiKey"> & Partial<Pick<Settings, "layers">>;
  /** Where to look for model servers on this machine; their usual ports if omitted. */
  readonly addresses?: readonly LocalAddress[] | undefined;
  /** How long they have to answer. */
  readonly probeMs?: number | undefined;
}

/** Like `choose`, except that the model of the workspace's file is only a preference: if nothing here serves it, the
 * user's own model does, with a note. */
export async function chooseProviders(parts: ChooseParts): Promise<ChosenProviders> {
  const preferred = preferredModel(parts.settings);
  if (preferred === null) return await choose(parts);
  let fault: ConfigError | null = null;
  try {
    const choice = await choose(parts);
    if (!await isOfAnother(preferred.model, choice.providers[0])) return choice;
  } catch (error) {
    if (!(error instanceof ConfigError) || error.code !== "unserved") throw error;
    fault = error;
  }
  const config = { ...parts.settings.config, model: preferred.instead };
  const choice = await choose({ ...parts, settings: { ...parts.settings, config } }).catch((error: unknown) => {
    throw fault ?? error;
  });
  const why = fault === null ? "no key here serves it" : fault.advice || fault.problem;
  return {
    ...choice,
    notes: [...choice.notes, `the workspace prefers ${preferred.model}, which is not used: ${why}`],
  };
}

/** The model that only the workspace's file names, and the one without it. */
function preferredModel(
  { config: { model }, layers = [] }: ChooseParts["settings"],
): { readonly model: string; readonly instead: string | null } | null {
  const named = layers.filter(({ values }) => typeof values["model"] === "string");
  if (model === null || named.at(-1)?.layer !== "project") return null;
  return { model, instead: String(named.at(-2)?.values["model"] ?? "") || null };
}

/** Whether a service does not have a model that another one has. */
async function isOfAnother(model: string, { name, data, models }: ResolvedProvider): Promise<boolean> {
  if (data === null || models.some((one) => one.name === model)) return false;
  const known = await loadModelData(data);
  if (known.find(model) !== null || model.startsWith(`${name}/`)) return false;
  const [prefix = "", ...rest] = model.split("/");
  const others = Object.keys(PRESETS).map((preset) => ({ name: preset, preset }));
  return rest.length > 0 && Object.hasOwn(PRESETS, prefix) || await ownerOf(model, others) !== null;
}

/** Chooses in this order: the named provider; a base URL or a key of VIS_*; "provider/model"; the configured ones; the
 * first preset with a key; a server on this machine. Throws `ConfigError` that names what to set. */
async function choose(parts: ChooseParts): Promise<ChosenProviders> {
  const { config, apiKey } = parts.settings;
  const { provider, baseUrl, model, providers } = config;
  const plain = provider === null
    ? baseUrl !== null
    : provider === "openai" && (baseUrl !== null || apiKey !== null) || provider === hostOf(baseUrl);
  if (plain && !providers.some(({ name }) => name === provider)) return only(plainProvider(parts), model);
  if (provider !== null) {
    const named = await withKey(await resolveProvider(provider, { ...parts, sole: true }));
    return only(named, ownName(model, named));
  }
  const prefix = model?.split("/", 1)[0] ?? "";
  const listed = providers.some(({ models }) => models.some(({ name }) => name === model));
  const prefixed = model !== null && !listed && prefix !== model && isProvider(prefix, config);
  const configured = providers.map(({ name }) => name);
  if (prefixed) return await byPrefix(prefix, { parts, model });
  if (configured.length > 0) return await ordered(await rootFirst(configured, parts), { parts, model });
  if (apiKey !== null) return only(plainProvider(parts), model);
  return await byKey(parts) ?? await local(parts);
}

function only(provider: ResolvedProvider, model: string | null): ChosenProviders {
  return { providers: [provider], model, notes: [] };
}

function hostOf(baseUrl: string | null): string | null {
  return baseUrl === null ? null : serverName(baseUrl);
}

/** The provider that VIS_BASE_URL and VIS_API_KEY describe: any server that speaks OpenAI's chat completions; without an
 * address, OpenAI. */
function plainProvider({ settings: { config, apiKey, variable } }: ChooseParts): ResolvedProvider {
  const openai = PRESETS["openai"];
  if (openai === undefined) throw new RangeError("Cannot find the preset of OpenAI");
  const given = environmentAddress(openai, variable);
  const place = config.baseUrl === null
    ? given ?? { baseUrl: openai.baseUrl, from: "" }
    : { baseUrl: config.baseUrl, from: "" };
  const isUsual = variable("VIS_API_KEY") === null;
  const mayGo = config.baseUrl === null || !isUsual || takesUsualKey(config.baseUrl, given?.baseUrl ?? openai.baseUrl);
  const value = mayGo ? apiKey : null;
  // The settings may say what its models cost.
  const described = config.providers.find(({ name, baseUrl }) =>
    config.baseUrl !== null && (baseUrl === config.baseUrl || name === hostOf(config.baseUrl))
  );
  return {
    name: hostOf(config.baseUrl) ?? "openai",
    title: config.baseUrl === null ? "OpenAI" : "OpenAI-compatible server",
    preset: config.baseUrl === null ? "openai" : null,
    protocol: "openai-chat",
    baseUrl: place.baseUrl,
    addressFrom: place.from,
    addressNote: mayGo || apiKey === null
      ? ""
      : `OPENAI_API_KEY is not sent to ${hostOf(config.baseUrl)}: VIS_API_KEY is the key of VIS_BASE_URL`,
    headers: {},
    need: "optional",
    keyNames: ["VIS_API_KEY", "OPENAI_API_KEY"],
    key: { value, from: value === null ? "" : isUsual ? "OPENAI_API_KEY" : "VIS_API_KEY", domain: null },
    models: described?.models ?? [],
    defaultModel: null,
    slashes: true,
    data: config.baseUrl === null ? "openai" : null,
    rateLimit: null,
    firstTokenMs: null,
    silenceMs: null,
    local: false,
    plain: true,
  };
}

/** Whether the key of OpenAI's variable may be sent to a server: it belongs to another one, unless that is on this
 * machine. */
function takesUsualKey(baseUrl: string, usual: string): boolean {
  const [url, own] = [URL.parse(baseUrl), URL.parse(usual)];
  return url !== null && (isLoopback(url.hostname) || url.origin === own?.origin);
}

/** A root without its key is an error; any other one is left out with a note. */
async function ordered(
  names: readonly string[],
  { parts, model }: { readonly parts: ChooseParts; readonly model: string | null },
): Promise<ChosenProviders> {
  const [first = "", ...rest] = new Set(names);
  const root = await withKey(await resolveProvider(first, { ...parts, sole: rest.length === 0 }));
  const others: ResolvedProvider[] = [];
  const notes: string[] = [];
  for (const name of rest) {
    const other = await resolveProvider(name, { ...parts, sole: false });
    if (lacksKey(other)) notes.push(`${name} is skipped: it has no key (${keyAdvice(other)})`);
    else others.push(other);
  }
  return { providers: [root, ...others], model, notes };
}

/** Handles "provider/model". Services that resell models, and servers on this machine, use the same form of name: if
 * the provider has no key, one of these that has the model under its full name serves. */
async function byPrefix(
  prefix: string,
  { parts, model }: { readonly parts: ChooseParts; readonly model: string },
): Promise<ChosenProviders> {
  const configured = parts.settings.config.providers.map(({ name }) => name);
  const named = await resolveProvider(prefix, { ...parts, sole: configured.length === 0 });
  const whole = lacksKey(named) && !configured.includes(prefix) ? await byWholeName(model, parts) : null;
  return whole ?? await ordered([prefix, ...configured], { parts, model: model.slice(prefix.length + 1) });
}

async function byWholeName(model: string, parts: ChooseParts): Promise<ChosenProviders | null> {
  const { config } = parts.settings;
  const configured = config.providers.map(({ name }) => name);
  const owner = await ownerOf(model, config.providers.map(({ name, preset }) => ({ name, preset: preset ?? name })));
  if (owner !== null) return await ordered([owner, ...configured], { parts, model });
  if (configured.length > 0) return null;
  const reseller = (await keyedNames(parts)).find((name) => PRESETS[name]?.slashes);
  if (reseller !== undefined) return only(await resolveProvider(reseller, { ...parts, sole: true }), model);
  const servers = config.localServers
    ? await discoverLocal(parts.addresses ?? usualAddresses(parts.settings.variable), parts)
    : [];
  const server = servers.find(({ models }) => models.includes(model));
  return server === undefined ? null : await onServer(server, { parts, model });
}

/** Puts the provider that has the model first. */
async function rootFirst(names: readonly string[], { settings: { config } }: ChooseParts): Promise<readonly string[]> {
  const { model, providers } = config;
  if (model === null) return names;
  const listed = providers.find(({ models }) => models.some(({ name }) => name === model))?.name;
  const presets = providers.map(({ name, preset }) => ({ name, preset: preset ?? name }));
  const owner = listed ?? await ownerOf(model, presets);
  return owner === null ? names : [owner, ...names];
}

/** The first provider whose data contains the model. */
async function ownerOf(
  model: string,
  providers: readonly { readonly name: string; readonly preset: string }[],
): Promise<string | null> {
  for (const { name, preset } of providers) {
    const data = Object.hasOwn(PRESETS, preset) ? PRESETS[preset]?.data ?? null : null;
    if (data !== null && (await loadModelData(data)).find(model) !== null) return name;
  }
  return null;
}

/** Presets whose key is in the environment, then providers whose key is in auth.json. */
export async function keyedNames(
  { settings: { config, variable }, credentials }: ResolveParts,
): Promise<readonly string[]> {
  const inEnvironment = Object.entries(PRESETS)
    .filter(([, { byKey, keyNames }]) => byKey && keyNames.some((name) => variable(name) !== null))
    .map(([name]) => name);
  const kept = Object.keys(await credentials.all()).filter((name) => isProvider(name, config));
  return [...new Set([...inEnvironment, ...kept])];
}

async function byKey(parts: ChooseParts): Promise<ChosenProviders | null> {
  const names = await keyedNames(parts);
  const [first] = names;
  if (first === undefined) return null;
  const { model } = parts.settings.config;
  const owner = model !== null && names.length > 1
    ? await ownerOf(model, names.map((name) => ({ name, preset: name })))
    : null;
  return only(await resolveProvider(owner ?? first, { ...parts, sole: true }), model);
}

/** The first server on this machine that has a model, or the requested model. */
async function local(parts: ChooseParts): Promise<ChosenProviders> {
  const { config } = parts.settings;
  const servers = config.localServers
    ? await discoverLocal(parts.addresses ?? usualAddresses(parts.settings.variable), parts)
    : [];
  const { model } = config;
  const serving = servers.filter(({ models }) => models.length > 0);
  const server = (model === null ? undefined : serving.find(({ models }) => models.includes(model))) ?? serving[0];
  if (server === undefined) throw noProvider(servers);
  if (model !== null && !server.models.includes(model)) {
    const there = server.models.slice(0, 5).join(", ");
    throw new ConfigError(
      `Cannot use model ${model}: no provider is configured, and ${server.title} here has ${there}`,
      { code: "unserved" },
    );
  }
  return await onServer(server, { parts, model });
}

async function onServer(
  server: LocalServer,
  { parts, model }: { readonly parts: ChooseParts; readonly model: string | null },
): Promise<ChosenProviders> {
  const resolved = await resolveProvider(server.preset, { ...parts, sole: false });
  const more = server.models.length - 1;
  const choice = more > 0 && model === null ? `; ${more} more with --model (vis models)` : "";
  const note = `no provider is configured: found ${server.title} at ${server.baseUrl}${choice}`;
  return { ...only({ ...resolved, baseUrl: server.baseUrl }, model ?? server.models[0] ?? null), notes: [note] };
}

function noProvider(servers: readonly LocalServer[]): ConfigError {
  const found = servers.map(({ title, baseUrl }) => `${title} at ${baseUrl} has no model`).join(", ");
  return new ConfigError(`No provider is configured${found ? ` (${found}: load one)` : ""}`, {
    code: "no_provider",
    advice: WITHOUT_PROVIDER,
  });
}

const WITHOUT_PROVIDER = `log in with vis auth login, or set a key such as ANTHROPIC_API_KEY
Any OpenAI-compatible server: set VIS_BASE_URL, VIS_MODEL and, if it needs one, VIS_API_KEY; or start Ollama or LM Studio
See it work without one: vis demo`;

function lacksKey({ need, key }: ResolvedProvider): boolean {
  return need !== "optional" && key.value === null;
}

function withKey(provider: ResolvedProvider): ResolvedProvider {
  if (!lacksKey(provider)) return provider;
  throw new ConfigError(`Cannot use provider ${provider.name}: it has no key`, {
    code: "unserved",
    advice: keyAdvice(provider),
  });
}

/** The model's own name, if it was prefixed with the provider's. */
function ownName(model: string | null, { name, slashes }: ResolvedProvider): string | null {
  return model !== null && !slashes && model.startsWith(`${name}/`) ? model.slice(name.length + 1) : model;
}
