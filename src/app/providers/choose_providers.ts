import { ConfigError, UsageError } from "../../domain/errors.ts";
import { isLoopback, withoutLogin } from "../../domain/kit/addresses.ts";
import { nearestName } from "../../domain/kit/names.ts";
import type { Credential, Credentials } from "../../providers/credentials.ts";
import { loadModelData, type ModelDataSet } from "../../providers/models/model_data.ts";
import {
  defaultModelAt,
  discoverLocal,
  environmentAddress,
  type LocalAddress,
  type LocalServer,
  type Preset,
  PRESETS,
  usualAddresses,
} from "../../providers/models/known_providers.ts";
import type { WireProtocol } from "../../providers/wire/wire.ts";
import type { Settings } from "../settings/settings.ts";

export interface ChosenProviders {
  readonly providers: readonly [ResolvedProvider, ...ResolvedProvider[]];
  readonly model: string | null;
  readonly notes: readonly string[];
}

interface ChooseParts extends ResolveParts {
  readonly settings: ResolveParts["settings"] & Pick<Settings, "apiKey"> & Partial<Pick<Settings, "layers">>;
  readonly addresses?: readonly LocalAddress[] | undefined;
  readonly probeMs?: number | undefined;
}

/** A workspace may prefer a model that the user's providers do not serve, so Vis falls back to the user's own model. */
export async function chooseProviders(parts: ChooseParts): Promise<ChosenProviders> {
  const preferred = preferredModel(parts.settings);
  if (preferred === null) return await choose(parts);
  let fault: ConfigError | null = null, root: ResolvedProvider | null = null;
  try {
    const choice = await choose(parts);
    root = choice.providers[0];
    if (!await isOfAnother(preferred.model, root, choice.model)) return choice;
  } catch (error) {
    if (!(error instanceof ConfigError) || error.code !== "unserved") throw error;
    fault = error;
  }
  const config = { ...parts.settings.config, model: preferred.instead };
  const choice = await choose({ ...parts, settings: { ...parts.settings, config } }).catch((error: unknown) => {
    throw fault ?? error;
  });
  const unlisted = root?.data === null
    ? `it is not among the models of ${root.name} in the settings`
    : `it is not a model of ${root?.name}`;
  const why = fault === null ? unlisted : fault.advice || fault.problem;
  return {
    ...choice,
    notes: [...choice.notes, `the workspace prefers ${preferred.model}, but Vis does not use it: ${why}`],
  };
}

function preferredModel(
  { config: { model }, layers = [] }: ChooseParts["settings"],
): { readonly model: string; readonly instead: string | null } | null {
  const named = layers.filter(({ values }) => typeof values["model"] === "string");
  if (model === null || named.at(-1)?.layer !== "project") return null;
  return { model, instead: String(named.at(-2)?.values["model"] ?? "") || null };
}

async function isOfAnother(
  model: string,
  { name, data, models, home }: ResolvedProvider,
  asked: string | null,
): Promise<boolean> {
  if (models.some((one) => one.name === model || one.name === asked)) return false;
  if (data === null) return models.length > 0;
  const known = await loadModelData(data, home);
  if (known.find(model) !== null || model.startsWith(`${name}/`)) return false;
  const [prefix = "", ...rest] = model.split("/");
  const others = Object.keys(PRESETS).map((preset) => ({ name: preset, preset }));
  return rest.length > 0 && Object.hasOwn(PRESETS, prefix) ||
    await ownerOf(model, { providers: others, home }) !== null;
}

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

export function addressSetting({ config, variable }: Pick<Settings, "config" | "variable">): string | null {
  if (config.baseUrl === null) return null;
  return variable("VIS_BASE_URL") === config.baseUrl ? "VIS_BASE_URL" : "the setting baseUrl";
}

function proxyFrom(baseUrl: string, variable: Settings["variable"]): string {
  const { hostname = "", protocol = "" } = URL.parse(baseUrl) ?? {};
  if (!isLoopback(hostname)) return "";
  const given = (name: string): string => variable(name) || variable(name.toLowerCase()) || "";
  const spared = given("NO_PROXY").split(/[\s,]+/);
  const isSpared = (entry: string): boolean =>
    [hostname, "*"].includes(entry.replace(/:\d+$/, "")) || entry.includes("/") && entry.startsWith("127.");
  if (spared.some(isSpared)) return "";
  return [`${protocol.slice(0, -1).toUpperCase()}_PROXY`, "ALL_PROXY"].find((name) => given(name) !== "") ?? "";
}

function plainProvider({ settings: { config, apiKey, variable, home = null } }: ChooseParts): ResolvedProvider {
  const { openai } = PRESETS;
  const given = environmentAddress(openai, variable);
  const place = config.baseUrl === null
    ? given ?? { baseUrl: openai.baseUrl, from: "" }
    : { baseUrl: config.baseUrl, from: "" };
  const isUsual = variable("VIS_API_KEY") === null;
  const mayGo = config.baseUrl === null || !isUsual || takesUsualKey(config.baseUrl, given?.baseUrl ?? openai.baseUrl);
  const value = mayGo ? apiKey : null;
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
    addressSetting: addressSetting({ config, variable }),
    proxyFrom: proxyFrom(place.baseUrl, variable),
    addressNote: mayGo || apiKey === null ? "" : keptBack("OPENAI_API_KEY", config.baseUrl),
    headers: {},
    need: "optional",
    keyNames: ["VIS_API_KEY", "OPENAI_API_KEY"],
    key: { value, from: value === null ? "" : isUsual ? "OPENAI_API_KEY" : "VIS_API_KEY", domain: null },
    models: described?.models ?? [],
    defaultModel: config.baseUrl === null ? defaultModelAt(place.baseUrl, openai) : null,
    slashes: true,
    data: config.baseUrl === null ? "openai" : null,
    home,
    rateLimit: null,
    firstTokenMs: null,
    silenceMs: null,
    local: false,
    plain: true,
  };
}

/** The usual key of a service must reach only this service and servers on this machine. */
function takesUsualKey(baseUrl: string, usual: string): boolean {
  const [url, own] = [URL.parse(baseUrl), URL.parse(usual)];
  return url !== null && (isLoopback(url.hostname) || url.origin === own?.origin);
}

function keptBack(key: string, baseUrl: string | null): string {
  return `Vis does not send ${key} to ${hostOf(baseUrl)} (set VIS_API_KEY for this address)`;
}

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
    if (lacksKey(other)) notes.push(`Vis skips ${name}: it has no key (${keyAdvice(other)})`);
    else others.push(other);
  }
  return { providers: [root, ...others], model, notes };
}

/** Resellers name models "provider/model", so without a key for the provider, Vis looks for a service that has the
 * whole name. */
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
  const { config, home = null } = parts.settings;
  const configured = config.providers.map(({ name }) => name);
  const providers = config.providers.map(({ name, preset }) => ({ name, preset: preset ?? name }));
  const owner = await ownerOf(model, { providers, home });
  if (owner !== null) return await ordered([owner, ...configured], { parts, model });
  if (configured.length > 0) return null;
  const reseller = (await keyedNames(parts)).find((name) => PRESETS[name]?.slashes) ??
    resellerByKey(parts.settings.variable);
  if (reseller !== undefined) return only(await resolveProvider(reseller, { ...parts, sole: true }), model);
  const servers = config.localServers
    ? await discoverLocal(parts.addresses ?? usualAddresses(parts.settings.variable), parts)
    : [];
  const server = servers.find(({ models }) => models.includes(model));
  return server === undefined ? null : await onServer(server, { parts, model });
}

function resellerByKey(variable: (name: string) => string | null): string | undefined {
  return Object.entries(PRESETS).find(([, { slashes, keyNames, sharedKeyNames = [] }]) =>
    slashes && keyNames.some((name) => !sharedKeyNames.includes(name) && variable(name) !== null)
  )?.[0];
}

async function rootFirst(
  names: readonly string[],
  { settings: { config, home = null } }: ChooseParts,
): Promise<readonly string[]> {
  const { model, providers } = config;
  if (model === null) return names;
  const listed = providers.find(({ models }) => models.some(({ name }) => name === model))?.name;
  const presets = providers.map(({ name, preset }) => ({ name, preset: preset ?? name }));
  const owner = listed ?? await ownerOf(model, { providers: presets, home });
  return owner === null ? names : [owner, ...names];
}

async function ownerOf(
  model: string,
  { providers, home }: {
    readonly providers: readonly { readonly name: string; readonly preset: string }[];
    readonly home: string | null;
  },
): Promise<string | null> {
  for (const { name, preset } of providers) {
    const data = Object.hasOwn(PRESETS, preset) ? PRESETS[preset]?.data ?? null : null;
    if (data !== null && (await loadModelData(data, home)).find(model) !== null) return name;
  }
  return null;
}

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
  const { config: { model }, home = null } = parts.settings;
  const providers = names.map((name) => ({ name, preset: name }));
  const owner = model !== null && names.length > 1 ? await ownerOf(model, { providers, home }) : null;
  return only(await resolveProvider(owner ?? first, { ...parts, sole: true }), model);
}

async function local(parts: ChooseParts): Promise<ChosenProviders> {
  const { config } = parts.settings;
  const servers = config.localServers
    ? await discoverLocal(parts.addresses ?? usualAddresses(parts.settings.variable), parts)
    : [];
  const { model } = config;
  const serving = servers.filter(({ models }) => models.length > 0);
  const server = (model === null ? undefined : serving.find(({ models }) => models.includes(model))) ?? serving[0];
  if (server === undefined) throw noProvider(servers, config);
  if (model !== null && !server.models.includes(model)) {
    const there = server.models.slice(0, 5).join(", ");
    throw new ConfigError(
      `Cannot use model ${model}: no provider is configured, and ${server.title} here does not have this model; ` +
        `choose one of its models with --model, such as ${there}`,
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
  const note = `no provider is configured: Vis uses ${server.title} at ${server.baseUrl}${choice}`;
  return { ...only({ ...resolved, baseUrl: server.baseUrl }, model ?? server.models[0] ?? null), notes: [note] };
}

function noProvider(
  servers: readonly LocalServer[],
  { localServers }: Pick<Settings["config"], "localServers">,
): ConfigError {
  const found = servers.map(({ title, baseUrl }) => `${title} at ${baseUrl} has no model`).join(" and ");
  return new ConfigError(`Cannot choose a model: no provider is configured${found ? `, and ${found}` : ""}`, {
    code: "no_provider",
    advice: withoutProvider(localServers ? "; or start Ollama or LM Studio" : ""),
  });
}

function withoutProvider(local: string): string {
  return `log in with vis auth login, or set a key such as ANTHROPIC_API_KEY
Any OpenAI-compatible server: set VIS_BASE_URL, VIS_MODEL and, if it needs one, VIS_API_KEY${local}
See it work without one: vis demo`;
}

function lacksKey({ need, key }: ResolvedProvider): boolean {
  return need !== "optional" && key.value === null;
}

function withKey(provider: ResolvedProvider): ResolvedProvider {
  if (!lacksKey(provider)) return provider;
  throw new ConfigError(`Cannot use provider ${provider.name}: it has no key`, {
    code: "unserved",
    advice: provider.addressNote || keyAdvice(provider),
  });
}

function ownName(model: string | null, { name, slashes }: ResolvedProvider): string | null {
  return model !== null && !slashes && model.startsWith(`${name}/`) ? model.slice(name.length + 1) : model;
}

const WITHOUT_SERVICE: readonly string[] = ["demo", "files"];

type ProviderEntry = Settings["config"]["providers"][number];

export interface ResolvedProvider {
  readonly name: string;
  readonly title: string;
  readonly preset: string | null;
  readonly protocol: WireProtocol;
  readonly baseUrl: string;
  readonly addressFrom: string;
  readonly addressSetting: string | null;
  /** Names the variable of the proxy through which Vis reaches a server on this machine, or is "". */
  readonly proxyFrom: string;
  readonly addressNote: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly need: Preset["key"];
  readonly keyNames: readonly string[];
  readonly key: {
    readonly value: string | null;
    readonly from: string;
    readonly domain: string | null;
  };
  readonly models: ProviderEntry["models"];
  readonly defaultModel: string | null;
  readonly slashes: boolean;
  readonly data: ModelDataSet | null;
  readonly home: string | null;
  readonly rateLimit: ProviderEntry["rateLimit"] | null;
  readonly firstTokenMs: number | null;
  readonly silenceMs: number | null;
  readonly local: boolean;
  readonly plain: boolean;
}

interface ResolveParts {
  readonly settings: Pick<Settings, "config" | "variable"> & Partial<Pick<Settings, "home">>;
  readonly credentials: Credentials;
}

/** With `sole`, VIS_API_KEY and the setting `baseUrl` apply to this provider. */
export async function resolveProvider(
  name: string,
  { settings, credentials, sole, typed }: ResolveParts & { readonly sole: boolean; readonly typed?: string },
): Promise<ResolvedProvider> {
  const { config, variable, home = null } = settings;
  const entry = config.providers.find((one) => one.name === name);
  const presetName = presetOf(name, entry, config.providers);
  const preset = presetName === null ? null : PRESETS[presetName] ?? null;
  const keyNames = [...(entry?.keyEnv ? [entry.keyEnv] : []), ...(preset?.keyNames ?? [])];
  const names = [...(sole ? ["VIS_API_KEY"] : []), ...keyNames];
  const credential = await credentials.get(name);
  const found = typed === undefined
    ? keyIn(names, variable) ?? keyOf(credential)
    : { ...NO_KEY, value: typed, from: "typed" };
  const own = entry?.baseUrl !== undefined
    ? { baseUrl: entry.baseUrl, from: "", note: "" }
    : addressFor(found.from === entry?.keyEnv && !preset?.keyNames.includes(found.from) ? "elsewhere" : found.from, {
      preset,
      credential,
      variable,
    });
  const above = sole ? config.baseUrl : null;
  const place = above === null ? own : { baseUrl: above, from: "", note: "" };
  if (place === null) {
    throw new ConfigError(
      `Cannot use provider ${name}: it has no address; set its baseUrl or preset in providers of config.jsonc`,
    );
  }
  const isFree = above === null || own === null || ["", "typed", "VIS_API_KEY"].includes(found.from);
  const mayGo = isFree || takesUsualKey(above, own.baseUrl);
  const key = mayGo ? found : NO_KEY;
  const { baseUrl } = place;
  const moved = above !== null || entry?.baseUrl !== undefined || place.from !== "";
  // A server at another address, such as a proxy, may hold the key.
  const need = preset === null ? (entry?.keyEnv ? "required" : "optional") : moved ? optional(preset.key) : preset.key;
  const isBearer = key.value !== null && key.from === preset?.bearerName;
  return {
    name,
    title: preset?.title ?? name,
    preset: presetName,
    protocol: entry?.protocol ?? preset?.protocol ?? "openai-chat",
    baseUrl,
    addressFrom: place.from,
    addressSetting: sole ? addressSetting(settings) : null,
    proxyFrom: proxyFrom(baseUrl, variable),
    addressNote: mayGo ? place.note : keptBack(found.from === "auth.json" ? "the key in auth.json" : found.from, above),
    headers: { ...preset?.headers, ...(isBearer ? { authorization: `Bearer ${key.value}` } : {}), ...entry?.headers },
    need,
    keyNames,
    key,
    models: entry?.models ?? [],
    defaultModel: entry?.models[0]?.name ?? (preset === null ? null : defaultModelAt(baseUrl, preset)),
    slashes: preset?.slashes ?? false,
    data: preset?.data ?? null,
    home,
    rateLimit: entry?.rateLimit ?? null,
    firstTokenMs: entry?.firstTokenMs ?? null,
    silenceMs: entry?.silenceMs ?? null,
    local: preset?.localPort !== undefined,
    plain: false,
  };
}

export function isProvider(name: string, { providers }: Settings["config"]): boolean {
  return Object.hasOwn(PRESETS, name) || providers.some((one) => one.name === name);
}

export function keyAdvice({ name, keyNames, need }: ResolvedProvider): string {
  const [first] = keyNames;
  const login = `vis auth login ${name}`;
  return need === "device-login" || first === undefined ? `run ${login}` : `set ${first} or run ${login}`;
}

function presetOf(
  name: string,
  entry: ProviderEntry | undefined,
  providers: readonly ProviderEntry[],
): string | null {
  const asked = entry?.preset ?? name;
  if (Object.hasOwn(PRESETS, asked)) return asked;
  if (entry !== undefined && entry.preset === undefined) return null;
  const presets = Object.keys(PRESETS);
  const what = entry === undefined ? `provider ${asked}` : `preset ${asked} of provider ${name}`;
  if (WITHOUT_SERVICE.includes(asked)) {
    const wayOut = entry === undefined
      ? `use it with vis run --provider ${asked}`
      : `choose one of ${presets.join(", ")}`;
    throw new ConfigError(`Cannot use ${what} as a service: it has no address and no key; ${wayOut}`);
  }
  const [kind, known] = entry === undefined
    ? ["provider", [...new Set([...providers.map((one) => one.name), ...presets, ...WITHOUT_SERVICE])]]
    : ["preset", presets];
  const near = nearestName(asked, known);
  throw new ConfigError(`Cannot use ${what}: no ${kind} has this name`, {
    advice: near === null ? `choose one of ${known.join(", ")}` : `did you mean ${near}?`,
  });
}

/** A saved key must not reach an address that only a variable names. */
function addressFor(
  keyFrom: string,
  { preset, credential, variable }: {
    readonly preset: Preset | null;
    readonly credential: Credential | null;
    readonly variable: (name: string) => string | null;
  },
): { readonly baseUrl: string; readonly from: string; readonly note: string } | null {
  if (preset === null) return null;
  const given = environmentAddress(preset, variable);
  const saved = keyFrom === "auth.json" && credential?.type === "key" ? credential.baseUrl ?? preset.baseUrl : null;
  if (saved === null && keyFrom !== "elsewhere" && keyFrom !== "auth.json") {
    return given === null ? { baseUrl: preset.baseUrl, from: "", note: "" } : { ...given, note: "" };
  }
  const baseUrl = saved ?? preset.baseUrl;
  const isOther = given !== null && given.baseUrl !== baseUrl;
  const note = isOther ? `${given.from} has no effect: the key in use belongs to ${URL.parse(baseUrl)?.host}` : "";
  return { baseUrl, from: "", note };
}

function keyIn(
  names: readonly string[],
  variable: (name: string) => string | null,
): ResolvedProvider["key"] | null {
  for (const name of names) {
    const value = variable(name);
    if (value !== null) return { value, from: name, domain: null };
  }
  return null;
}

const NO_KEY: ResolvedProvider["key"] = { value: null, from: "", domain: null };

function keyOf(credential: Credential | null): ResolvedProvider["key"] {
  if (credential === null) return NO_KEY;
  if (credential.type === "key") return { value: credential.key, from: "auth.json", domain: null };
  return { value: credential.githubToken, from: "auth.json", domain: credential.domain };
}

function optional(need: Preset["key"]): Preset["key"] {
  return need === "required" ? "optional" : need;
}

export function serverName(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `Cannot use the address ${
        withoutLogin(baseUrl)
      }: it is not an http or https URL; write one such as http://127.0.0.1:8080/v1`,
    );
  }
  return url.host.replace(/[^\w.-]+/g, "-").replace(/^[^A-Za-z0-9]+|-+$/g, "");
}
