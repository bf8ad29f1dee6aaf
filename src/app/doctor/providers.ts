import type { CheckResult } from "../../channels/channel.ts";
import { ConfigError, messageOf } from "../../domain/errors.ts";
import { loadModelData } from "../../providers/models/model_data.ts";
import { buildRouter, unpricedRoot } from "../providers/build_router.ts";
import { AppProviderAdmin } from "../providers/provider_admin.ts";
import type { Settings } from "../settings/settings.ts";

const REACH_MS = 5_000;
/** Services change their prices a few times a year. */
const OLD_DAYS = 180;
const NO_PROVIDER =
  "vis auth login, or VIS_BASE_URL and VIS_MODEL for any OpenAI-compatible server; vis demo needs none";

/** Checks whether a query could be served: requests the models of the current provider, and of the others that are
 * configured or have a key. */
export async function diagnoseProviders(settings: Settings): Promise<readonly CheckResult[]> {
  // An unusable key file affects all of them and is reported once.
  const others = othersOf(settings).catch((error: unknown) => {
    if (error instanceof ConfigError) return [];
    throw error;
  });
  return [await rootOf(settings), ...await pricesOf(settings), ...await others];
}

/** The age of the bundled prices, and whether a limit of the cost refuses the model that would serve. */
async function pricesOf(settings: Settings): Promise<readonly CheckResult[]> {
  const name = "prices";
  const router = await buildRouter(settings).catch((error: unknown) => {
    if (error instanceof ConfigError) return null; // reported with the provider
    throw error;
  });
  if (router === null) return [];
  const fault = unpricedRoot(router, settings);
  if (fault !== null) return [{ name, state: "fail", ...fault }];
  const { date } = await loadModelData("anthropic");
  const days = Math.floor((Date.now() - Date.parse(date)) / 86_400_000);
  const found = `of ${date}, included in this version`;
  if (days <= OLD_DAYS) return [{ name, state: "ok", found, fix: "" }];
  return [{ name, state: "warn", found: `${found}: ${days} days old`, fix: "Update Vis (vis update)" }];
}

async function rootOf(settings: Settings): Promise<CheckResult> {
  const name = "provider";
  try {
    const router = await buildRouter(settings);
    const { provider, model } = router.current();
    const at = (await addressOf(provider.name, settings)) ?? "";
    const found = `${provider.name} ${model}${at === "" ? "" : `, ${at}`}`;
    try {
      const models = await provider.models({ signal: AbortSignal.timeout(REACH_MS) });
      if (models.length === 0 || models.includes(model)) return { name, state: "ok", found, fix: "" };
      const known = models.slice(0, 5).join(", ");
      return { name, state: "warn", found: `${found}: the server does not list this model`, fix: `It has ${known}` };
    } catch (error) {
      const why = messageOf(error);
      return { name, state: "fail", found: `${found}: ${why}`, fix: fixOf(provider.name, settings) };
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Without any provider Vis still shows and replays what is stored; a wrong provider is a fault.
    if (error.code === "no_provider") return { name, state: "warn", found: error.problem, fix: NO_PROVIDER };
    const fix = error.advice || "See vis providers";
    return { name, state: "fail", found: error.problem, fix };
  }
}

/** Where a provider's key goes, if a variable of the environment concerns it. */
async function addressOf(name: string, settings: Settings): Promise<string | undefined> {
  const keys = await new AppProviderAdmin(settings).keys();
  return keys.find(({ provider }) => provider === name)?.address;
}

function fixOf(name: string, { config }: Settings): string {
  const ownKey = config.baseUrl === null ? `vis auth login ${name}` : "VIS_API_KEY";
  const address = config.baseUrl === null ? `the baseUrl of ${name} in config.jsonc` : "VIS_BASE_URL";
  return `Start the server, or check ${address} and its key (${ownKey}); then run vis providers --check again`;
}

/** Fallback providers, and those that could be named. */
async function othersOf(settings: Settings): Promise<readonly CheckResult[]> {
  const admin = new AppProviderAdmin(settings);
  const { providers } = await admin.providers({ check: true, signal: AbortSignal.timeout(2 * REACH_MS) });
  return providers.filter(({ root }) => !root).map(({ name, key, reach }): CheckResult => {
    const at = `provider: ${name}`;
    if (key.fix !== "") return { name: at, state: "warn", found: "it has no key", fix: key.fix };
    if (reach?.ok) return { name: at, state: "ok", found: reach.found, fix: "" };
    const fix = `Requests work without it; check its address and key: vis auth login ${name}`;
    return { name: at, state: "warn", found: reach?.found ?? "not checked", fix };
  });
}
