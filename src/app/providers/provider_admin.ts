import { join } from "node:path";
import type { ProviderAdmin } from "../../channels/channel.ts";
import { parseJsonc, setInJsonc } from "../../config/jsonc.ts";
import { valueAt } from "../../config/layers.ts";
import { Cancelled, ConfigError, messageOf, ProviderError, reasonOf, UsageError } from "../../domain/errors.ts";
import { nearestName } from "../../domain/kit/names.ts";
import { counted } from "../../domain/kit/text.ts";
import type {
  KeyReport,
  KeyTrial,
  LoginChoice,
  ModelReport,
  ModelsReport,
  ProviderReport,
  ProvidersReport,
} from "../../domain/admin_reports.ts";
import { BOT_LOGIN, BOT_VARIABLE } from "../../domain/settings_section.ts";
import type { CopilotEndpoints } from "../../providers/copilot.ts";
import type { Credentials } from "../../providers/credentials.ts";
import { loadModelData, type ModelData } from "../../providers/models/model_data.ts";
import {
  discoverLocal,
  generalModel,
  type LocalAddress,
  PRESETS,
  usualAddresses,
} from "../../providers/models/known_providers.ts";
import { readConfigFile, writeConfigFile } from "../settings/settings_files.ts";
import { authReferences, type Settings } from "../settings/settings.ts";
import { capabilitiesOf, credentialsOf, FREE_PRICE, makeProvider } from "./build_router.ts";
import {
  chooseProviders,
  type ChosenProviders,
  isProvider,
  keyAdvice,
  keyedNames,
  type ResolvedProvider,
  resolveProvider,
  serverName,
} from "./choose_providers.ts";

const TRY_MS = 8_000;
const SHOWN_FROM = 16;

interface WithoutService {
  readonly name: string;
  readonly title: string;
  readonly model: string | null;
}

export class AppProviderAdmin implements ProviderAdmin {
  readonly #settings: Settings;
  readonly #credentials: Credentials;

  readonly #endpointsOf: ((domain: string) => CopilotEndpoints) | null;

  constructor(
    settings: Settings,
    { endpointsOf }: { readonly endpointsOf?: (domain: string) => CopilotEndpoints } = {},
  ) {
    this.#settings = settings;
    this.#credentials = credentialsOf(settings);
    this.#endpointsOf = endpointsOf ?? null;
  }

  get #parts() {
    return { settings: this.#settings, credentials: this.#credentials };
  }

  async providers(options: { readonly check: boolean; readonly signal: AbortSignal }): Promise<ProvidersReport> {
    const { choice, problem } = await this.#choice();
    const chosen = choice?.providers ?? [];
    const own = withoutService(this.#settings.config.provider, this.#settings.config.model);
    const others = (await this.#names()).filter((name) => !chosen.some((one) => one.name === name));
    const rest = await Promise.all(others.map((name) => resolveProvider(name, { ...this.#parts, sole: false })));
    const providers = await Promise.all([...chosen, ...rest].map(async (resolved): Promise<ProviderReport> => {
      const root = resolved === chosen[0];
      const { name, title, protocol, baseUrl, defaultModel } = resolved;
      const model = (root ? choice?.model : null) ?? defaultModel;
      const reach = options.check ? await serviceReach(resolved, options.signal) : null;
      return { name, title, protocol, baseUrl: bare(baseUrl), model, root, key: keyReport(resolved), reach };
    }));
    return {
      providers: [...own === null ? [] : [reportWithoutService(own)], ...providers],
      problem,
      notes: choice?.notes ?? [],
    };
  }

  async models(
    { provider, signal }: { readonly provider: string | null; readonly signal: AbortSignal },
  ): Promise<readonly ModelsReport[]> {
    const own = withoutService(provider ?? this.#settings.config.provider, this.#settings.config.model);
    if (own !== null) return [modelsWithoutService(own)];
    const { choice, problem } = await this.#choice();
    if (provider !== null && !choice?.providers.some(({ name }) => name === provider)) {
      const resolved = await resolveProvider(provider, { ...this.#parts, sole: true });
      return [await listModels(resolved, { root: null, signal })];
    }
    if (choice === null) throw new ConfigError(problem);
    const asked = choice.providers.filter(({ name }) => provider === null || name === provider);
    return await Promise.all(asked.map((resolved) => {
      const root = resolved === choice.providers[0] ? choice.model ?? resolved.defaultModel : null;
      return listModels(resolved, { root, signal });
    }));
  }

  async refreshModels(signal: AbortSignal): ReturnType<ProviderAdmin["refreshModels"]> {
    const { refreshModels } = await import("./refresh_models.ts");
    return await refreshModels(this.#settings, { signal, now: Date.now() });
  }

  async keys(): Promise<readonly KeyReport[]> {
    const { config } = this.#settings;
    const kept = Object.keys(await this.#credentials.all());
    const chosen = (await this.#choice()).choice?.providers ?? [];
    const names = [...new Set([...await this.#names(), ...kept])];
    const others = names.filter((name) => !chosen.some((one) => one.name === name)).map(async (name) => {
      if (isProvider(name, config)) return keyReport(await resolveProvider(name, { ...this.#parts, sole: false }));
      const isOverruled = name === BOT_LOGIN && this.#settings.variable(BOT_VARIABLE) !== null;
      const from = isOverruled ? BOT_VARIABLE : "auth.json";
      return { provider: name, title: name, need: "optional", from, shown: "", fix: "" } as const;
    });
    return [...chosen.map(keyReport), ...await Promise.all(others)];
  }

  loginNames(): readonly string[] {
    const { providers } = this.#settings.config;
    const presets = Object.entries(PRESETS).filter(([, { key, isByName }]) => key !== "optional" && !isByName).map((
      [name],
    ) => name);
    return [...new Set([...providers.map(({ name }) => name), ...presets, BOT_LOGIN])];
  }

  async loginChoices(): Promise<readonly LoginChoice[]> {
    return await loginChoices(this.loginNames(), this.#settings);
  }

  async tryKey(...[provider, key, signal]: Parameters<ProviderAdmin["tryKey"]>): Promise<KeyTrial | null> {
    checkKey(key);
    if (provider === BOT_LOGIN) return await this.#tryBotToken(key, signal);
    if (this.#isToken(provider)) return null;
    const sole = this.#settings.config.provider === provider;
    const resolved = await resolveProvider(provider, { ...this.#parts, sole, typed: key });
    try {
      const names = await served(resolved, { signal, withinMs: TRY_MS });
      await checkedAlone(resolved, { key, signal });
      const found = `it offers ${counted(names.length, "model")}`;
      const model = this.#settings.config.model === null ? await instead(names, resolved) : null;
      return { state: "works", found, ...(model === null ? {} : { model }) };
    } catch (error) {
      if (!isRefused(error)) return { state: "unknown", found: messageOf(error) };
      return {
        state: "refused",
        found: `status ${error.status}${error.status === 402 ? ": the account has no credit" : ""}`,
      };
    }
  }

  async #tryBotToken(token: string, signal: AbortSignal): Promise<KeyTrial> {
    const { BotApi } = await import("../../channels/telegram/bot_api.ts");
    const api = new BotApi({ token, root: this.#settings.config.telegram.apiUrl.replace(/\/+$/, "") });
    try {
      const { username } = await api.call((wire, own) => wire.getMe(own), { signal, timeoutMs: TRY_MS });
      return { state: "works", found: `it belongs to @${username}` };
    } catch (error) {
      const isWrong = error instanceof Error && "code" in error && error.code === "token";
      return isWrong
        ? { state: "refused", found: "Telegram knows no bot with this token" }
        : { state: "unknown", found: messageOf(error) };
    }
  }

  async loginKind(provider: string): Promise<"key" | "device-login"> {
    if (this.#isToken(provider)) return "key";
    if (!isProvider(provider, this.#settings.config) && withoutService(provider, null) === null) {
      const names = this.loginNames(), near = nearestName(provider, names);
      throw new ConfigError(
        `Cannot log in to ${provider}: no provider with a key has this name, and no setting of an extension uses \${auth:${provider}}`,
        { advice: near === null ? `choose one of ${names.join(", ")}` : `did you mean ${near}?` },
      );
    }
    const { need } = await resolveProvider(provider, { ...this.#parts, sole: true });
    return need === "device-login" ? "device-login" : "key";
  }

  #isToken(name: string): boolean {
    const { config } = this.#settings;
    return name === BOT_LOGIN || (!isProvider(name, config) && authReferences(config.extensions).has(name));
  }

  keyPage(provider: string): string {
    const preset = this.#settings.config.providers.find(({ name }) => name === provider)?.preset ?? provider;
    return Object.hasOwn(PRESETS, preset) ? PRESETS[preset]?.keyPage ?? "" : "";
  }

  async tryServer(
    ...[{ baseUrl, key }, signal]: Parameters<ProviderAdmin["tryServer"]>
  ): ReturnType<ProviderAdmin["tryServer"]> {
    const config = { ...this.#settings.config, provider: null, model: null, baseUrl };
    const settings = { ...this.#settings, config, apiKey: key === "" ? null : key };
    const { providers: [server] } = await chooseProviders({ ...this.#parts, settings });
    try {
      return { models: await served(server, { signal, withinMs: TRY_MS }), problem: "", refused: false };
    } catch (error) {
      if (signal.aborted) throw new Cancelled("Cancelled");
      return { models: [], problem: messageOf(error), refused: isRefused(error) };
    }
  }

  async addServer({ key, ...server }: Parameters<ProviderAdmin["addServer"]>[0]): Promise<string> {
    if (key !== "") checkKey(key);
    const name = await addServer(server, this.#settings);
    if (key !== "") await this.#credentials.set(name, { type: "key", key });
    return name;
  }

  async saveKey(provider: string, key: string): Promise<string> {
    checkKey(key);
    await this.#credentials.set(provider, { type: "key", key, ...await this.#addressOf(provider, key) });
    return this.#credentials.path ?? "";
  }

  async #addressOf(provider: string, key: string): Promise<{ readonly baseUrl?: string }> {
    const { config } = this.#settings;
    if (!isProvider(provider, config)) return {};
    const sole = config.provider === provider;
    const { baseUrl, addressFrom } = await resolveProvider(provider, { ...this.#parts, sole, typed: key });
    return addressFrom === "" && !(sole && config.baseUrl !== null) ? {} : { baseUrl };
  }

  async deviceLogin(
    provider: string,
    options: Parameters<ProviderAdmin["deviceLogin"]>[1],
  ): Promise<string> {
    const { copilotDeviceLogin, copilotEndpoints, CopilotTokens } = await import("../../providers/copilot.ts");
    const { domain, signal, onCode } = options;
    const endpoints = (this.#endpointsOf ?? copilotEndpoints)(domain);
    const githubToken = await copilotDeviceLogin(endpoints, { signal, onCode });
    // This call rejects for an account without Copilot, so Vis does not save its token.
    await new CopilotTokens(endpoints, { githubToken }).get(signal);
    await this.#credentials.set(provider, { type: "copilot", githubToken, domain });
    return this.#credentials.path ?? "";
  }

  async logout(provider: string): Promise<boolean> {
    return await this.#credentials.remove(provider);
  }

  async #choice(): Promise<{ readonly choice: ChosenProviders | null; readonly problem: string }> {
    const { provider, model } = this.#settings.config;
    if (withoutService(provider, model) !== null) return { choice: null, problem: "" };
    try {
      return { choice: await chooseProviders(this.#parts), problem: "" };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { choice: null, problem: error.message };
    }
  }

  async #names(): Promise<readonly string[]> {
    const { config } = this.#settings;
    const named = config.provider !== null && isProvider(config.provider, config) ? [config.provider] : [];
    const configured = config.providers.map(({ name }) => name);
    return [...new Set([...named, ...configured, ...await keyedNames(this.#parts)])];
  }
}

function checkKey(key: string): void {
  if (/^[\x21-\x7e]{4,8192}$/.test(key)) return;
  throw new UsageError(
    "Cannot save this key: it is not 4 to 8,192 visible ASCII characters without spaces; copy the whole key again",
  );
}

function withoutService(name: string | null, folder: string | null): WithoutService | null {
  if (name === "demo") return { name, title: "Scripted replies instead of a model", model: "scripted" };
  if (name === "files") return { name, title: "Requests and replies are files in a folder", model: folder };
  return null;
}

function reportWithoutService({ name, title, model }: WithoutService): ProviderReport {
  const key: KeyReport = { provider: name, title: name, need: "optional", from: "", shown: "", fix: "" };
  return { name, title, protocol: "none", baseUrl: "", model, root: true, key, reach: null };
}

function modelsWithoutService({ name, model }: WithoutService): ModelsReport {
  const images = name === "files"; // The request names each image.
  const facts = { contextTokens: null, price: FREE_PRICE, reasoning: false, images, known: true, root: true };
  const detail = name === "demo" ? "scripted replies instead of a model" : "files in the folder --model DIR";
  return { provider: name, source: "config", detail, models: model === null ? [] : [{ name: model, ...facts }] };
}

function keyReport(resolved: ResolvedProvider): KeyReport {
  const { name, title, need, key, baseUrl, addressFrom, addressNote } = resolved;
  const address = addressNote || (addressFrom === "" ? "" : `${bare(baseUrl)} (${addressFrom})`);
  const missing = key.value === null && need !== "optional";
  const shown = key.value === null ? "" : masked(key.value);
  const fix = missing ? keyAdvice(resolved) : "";
  return { provider: name, title, need, from: key.from, ...(address === "" ? {} : { address }), shown, fix };
}

function masked(key: string): string {
  return `••••${key.length >= SHOWN_FROM ? key.slice(-4) : ""}`;
}

function bare(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  return url === null ? "" : `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

async function listModels(
  resolved: ResolvedProvider,
  { root, signal }: { readonly root: string | null; readonly signal: AbortSignal },
): Promise<ModelsReport> {
  const data = resolved.data === null ? null : await loadModelData(resolved.data, resolved.home);
  const describe = (name: string): ModelReport => describeModel(name, { resolved, data, root });
  const prices = data === null ? {} : { prices: data.date };
  try {
    const names = await served(resolved, { signal });
    const own = resolved.models.map(({ name }) => name).filter((name) => !names.includes(name));
    const detail = own.length === 0 ? "" : `the settings add ${own.join(", ")}`;
    return { provider: resolved.name, source: "service", detail, ...prices, models: [...names, ...own].map(describe) };
  } catch (error) {
    if (signal.aborted) throw new Cancelled("Cancelled");
    const why = reasonOf(error);
    const own = resolved.models.map(({ name }) => name);
    if (data === null && own.length === 0) {
      return { provider: resolved.name, source: "config", detail: why, models: root === null ? [] : [describe(root)] };
    }
    const names = [...new Set([...own, ...data?.models.map(({ name }) => name) ?? []])];
    const detail = data === null ? why : `${data.source}; the service: ${why}`;
    const source = data === null ? "config" : "data";
    return { provider: resolved.name, source, detail, ...prices, models: names.map(describe) };
  }
}

function describeModel(
  name: string,
  { resolved, data, root }: {
    readonly resolved: ResolvedProvider;
    readonly data: ModelData | null;
    readonly root: string | null;
  },
): ModelReport {
  const { contextTokens, price, nativeReasoning: reasoning, images } = capabilitiesOf(name, { resolved, data });
  const known = (data?.find(name) ?? null) !== null || resolved.models.some((own) => own.name === name);
  return { name, contextTokens, price, reasoning, images, known, root: name === root };
}

/** Some services list their models without a key, so a request to `keyPath` checks the key. */
async function checkedAlone(
  { name, baseUrl, preset }: ResolvedProvider,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<void> {
  const path = preset === null ? undefined : PRESETS[preset]?.keyPath;
  if (path === undefined) return;
  const { status, body } = await fetch(`${baseUrl.replace(/\/+$/, "")}${path}`, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)]),
    redirect: "error",
  });
  await body?.cancel();
  if (status !== 401 && status !== 403) return;
  throw new ProviderError(
    `Cannot use the key of ${name}: the service refused it with status ${status}; check the key`,
    { code: "auth", retryable: false, status },
  );
}

/** Returns false if a proxy (407) or Vis itself refused the request, because the service has then not seen the key. */
function isRefused(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.code === "auth" && error.status !== null && error.status !== 407;
}

const REACH_MS = 5_000;

async function serviceReach(resolved: ResolvedProvider, signal: AbortSignal): Promise<ProviderReport["reach"]> {
  try {
    const models = await served(resolved, { signal });
    return { ok: true, found: counted(models.length, "model") };
  } catch (error) {
    if (signal.aborted) throw new Cancelled("Cancelled");
    return { ok: false, found: reasonOf(error) };
  }
}

async function instead(offered: readonly string[], resolved: ResolvedProvider): Promise<string | null> {
  const { defaultModel, preset } = resolved;
  if (defaultModel === null || offered.includes(defaultModel)) return null;
  const { knows } = await makeProvider(resolved, defaultModel);
  return generalModel(offered, { preset: preset === null ? null : PRESETS[preset] ?? null, knows });
}

async function served(
  resolved: ResolvedProvider,
  { signal, withinMs = REACH_MS }: { readonly signal: AbortSignal; readonly withinMs?: number },
): Promise<readonly string[]> {
  if (resolved.need !== "optional" && resolved.key.value === null) {
    throw new ConfigError(`It has no key; ${keyAdvice(resolved)}`);
  }
  const { provider } = await makeProvider(resolved, resolved.defaultModel ?? "");
  const timeout = AbortSignal.timeout(withinMs);
  try {
    return await provider.models({ signal: AbortSignal.any([signal, timeout]) });
  } catch (error) {
    if (timeout.aborted && !signal.aborted) {
      throw new ConfigError(`The service did not answer within ${withinMs / 1000} s`);
    }
    throw error;
  }
}

const PROBE_MS = 400;

export async function loginChoices(
  names: readonly string[],
  { config: { localServers, providers }, variable }: Pick<Settings, "config" | "variable">,
  { addresses = usualAddresses(variable) }: { readonly addresses?: readonly LocalAddress[] | undefined } = {},
): Promise<readonly LoginChoice[]> {
  const servers = localServers ? await discoverLocal(addresses, { probeMs: PROBE_MS }) : [];
  const found = servers.map(({ preset, title, baseUrl, models }): LoginChoice => {
    const count = counted(models.length, "model");
    return { name: preset, title: `${title} at ${new URL(baseUrl).host}, ${count}`, need: "optional" };
  });
  const stopped = Object.entries(PRESETS).flatMap(([name, { title, start }]): LoginChoice[] => {
    if (start === undefined || !localServers || [...found, ...providers].some((one) => one.name === name)) return [];
    return [{ name, title: `${title}, not found`, need: "optional", start }];
  });
  const others = names.filter((name) => !found.some((one) => one.name === name)).map((name): LoginChoice => {
    if (name === BOT_LOGIN) return { name, title: "the token of a bot for vis telegram", need: "required" };
    const entry = providers.find((one) => one.name === name);
    const preset = PRESETS[entry?.preset ?? name];
    return { name, title: preset?.title ?? "from your settings", need: preset?.key ?? "required" };
  });
  return [...found, ...others, ...stopped];
}

export async function addServer(
  { baseUrl, model }: { readonly baseUrl: string; readonly model: string },
  { home }: Pick<Settings, "home">,
): Promise<string> {
  if (home === null) {
    throw new ConfigError(
      "Cannot save the server: Vis has no home folder; set VIS_HOME to a writable folder",
    );
  }
  const name = serverName(baseUrl);
  const path = join(home, "config.jsonc");
  const file = await readConfigFile(path);
  const found = file === null ? [] : valueAt(parseJsonc(file), ["providers"]);
  const providers: readonly unknown[] = Array.isArray(found) ? found : [];
  const at = providers.findIndex((one) =>
    typeof one === "object" && one !== null && "name" in one && one.name === name
  );
  const entry = { name, baseUrl, models: [{ name: model }] };
  const change = providers.length === 0
    ? { path: ["providers"], value: [entry] }
    : { path: ["providers", String(at === -1 ? providers.length : at)], value: entry };
  await writeConfigFile(path, { text: setInJsonc(file?.text ?? "", change), follow: true });
  return name;
}
