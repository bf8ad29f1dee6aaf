import { ConfigError } from "../../domain/errors.ts";
import { nearestName } from "../../domain/kit/names.ts";
import type { Credential, Credentials } from "../../providers/credentials.ts";
import type { ModelDataSet } from "../../providers/models/model_data.ts";
import { environmentAddress, type Preset, PRESETS } from "../../providers/models/presets.ts";
import type { WireProtocol } from "../../providers/provider_options.ts";
import type { Settings } from "../settings/settings.ts";

/** Providers that are no service; the settings name them, and nothing else. */
const WITHOUT_SERVICE: readonly string[] = ["demo", "files"];

export type ProviderEntry = Settings["config"]["providers"][number];

/** A provider from the settings, with the key that was found for it. */
export interface ResolvedProvider {
  readonly name: string;
  readonly title: string;
  readonly preset: string | null;
  readonly protocol: WireProtocol;
  readonly baseUrl: string;
  /** The variable that the address comes from; "" for one of the settings or the preset. */
  readonly addressFrom: string;
  /** What the user should know about the address; "" if nothing. */
  readonly addressNote: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly need: Preset["key"];
  /** Variables that may hold the key. */
  readonly keyNames: readonly string[];
  readonly key: {
    readonly value: string | null;
    /** A variable, "auth.json", or "" if there is no key. */
    readonly from: string;
    /** The GitHub domain of a Copilot login. */
    readonly domain: string | null;
  };
  readonly models: ProviderEntry["models"];
  readonly defaultModel: string | null;
  readonly slashes: boolean;
  readonly data: ModelDataSet | null;
  readonly rateLimit: ProviderEntry["rateLimit"] | null;
  /** Null for the default. */
  readonly firstTokenMs: number | null;
  /** Likewise. */
  readonly silenceMs: number | null;
  /** Runs on this machine: its models cost nothing. */
  readonly local: boolean;
  /** Defined by VIS_BASE_URL and related variables, for a service that nothing is known about. */
  readonly plain: boolean;
}

export interface ResolveParts {
  readonly settings: Pick<Settings, "config" | "variable">;
  readonly credentials: Credentials;
}

/** One provider of the configuration, or a preset. `sole`: it is the only one requested, so VIS_API_KEY and
 * VIS_BASE_URL apply to it. `typed`: a key to use instead of those that are found. Throws `ConfigError` if it is
 * unknown or has no usable address; a missing key is not an error. */
export async function resolveProvider(
  name: string,
  { settings, credentials, sole, typed }: ResolveParts & { readonly sole: boolean; readonly typed?: string },
): Promise<ResolvedProvider> {
  const { config, variable } = settings;
  const entry = config.providers.find((one) => one.name === name);
  const presetName = presetOf(name, entry, config.providers);
  const preset = presetName === null ? null : PRESETS[presetName] ?? null;
  const keyNames = [...(entry?.keyEnv ? [entry.keyEnv] : []), ...(preset?.keyNames ?? [])];
  const names = [...(sole ? ["VIS_API_KEY"] : []), ...keyNames];
  const credential = await credentials.get(name);
  const key = typed === undefined
    ? keyIn(names, variable) ?? keyOf(credential)
    : { ...NO_KEY, value: typed, from: "typed" };
  const settled = (sole ? config.baseUrl : null) ?? entry?.baseUrl ?? null;
  const place = settled === null
    ? addressFor(key.from === entry?.keyEnv && !preset?.keyNames.includes(key.from) ? "elsewhere" : key.from, {
      preset,
      credential,
      variable,
    })
    : { baseUrl: settled, from: "", note: "" };
  if (place === null) {
    throw new ConfigError(`Cannot use provider: ${name}: set its baseUrl or preset in providers of config.jsonc`);
  }
  const { baseUrl } = place;
  const moved = settled !== null || place.from !== "";
  // A proxy may hold the key itself.
  const need = preset === null ? (entry?.keyEnv ? "required" : "optional") : moved ? optional(preset.key) : preset.key;
  const isBearer = key.value !== null && key.from === preset?.bearerName;
  return {
    name,
    title: preset?.title ?? name,
    preset: presetName,
    protocol: entry?.protocol ?? preset?.protocol ?? "openai-chat",
    baseUrl,
    addressFrom: place.from,
    addressNote: place.note,
    headers: { ...preset?.headers, ...(isBearer ? { authorization: `Bearer ${key.value}` } : {}), ...entry?.headers },
    need,
    keyNames,
    key,
    models: entry?.models ?? [],
    defaultModel: entry?.models[0]?.name ?? preset?.defaultModel ?? null,
    slashes: preset?.slashes ?? false,
    data: preset?.data ?? null,
    rateLimit: entry?.rateLimit ?? null,
    firstTokenMs: entry?.firstTokenMs ?? null,
    silenceMs: entry?.silenceMs ?? null,
    local: preset?.localPort !== undefined,
    plain: false,
  };
}

/** True for a name that `resolveProvider` knows. */
export function isProvider(name: string, { providers }: Settings["config"]): boolean {
  return Object.hasOwn(PRESETS, name) || providers.some((one) => one.name === name);
}

/** How to provide a missing key. */
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
  const what = entry === undefined ? "provider" : `the preset of provider ${name}`;
  if (WITHOUT_SERVICE.includes(asked)) {
    throw new ConfigError(
      `Cannot use ${what}: ${asked} needs no key and has no models or address; name it as --provider`,
    );
  }
  const presets = Object.keys(PRESETS);
  const known = entry === undefined ? [...new Set([...providers.map((one) => one.name), ...presets])] : presets;
  const near = nearestName(asked, [...known, ...WITHOUT_SERVICE]);
  throw new ConfigError(
    `Cannot use ${what}: ${asked} (there are ${known.join(", ")}, ${WITHOUT_SERVICE.join(" and ")})`,
    {
      advice: near === null ? "" : `did you mean ${near}?`,
    },
  );
}

/** The address for a key of this source, without one in the settings: a key goes only where its owner meant it to go.
 * The variable of the address belongs to the variables of the key; a saved key has the address for which it was saved. */
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
  const note = isOther ? `${given.from} is ignored: the key in use belongs to ${URL.parse(baseUrl)?.host}` : "";
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
