import { dirname, join } from "node:path";
import type { CheckResult, OpenRequest } from "../../channels/channel.ts";
import { DEFAULT_CONFIG } from "../../config/defaults.ts";
import type { KeyReport } from "../../domain/admin_reports.ts";
import {
  Cancelled,
  ConfigError,
  fileCode,
  fileFault,
  messageOf,
  SettingError,
  StoreError,
  type StoreErrorCode,
  UsageError,
} from "../../domain/errors.ts";
import { isPostgres } from "../../domain/kit/addresses.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { openStore } from "../../persistence/open_store.ts";
import { loadModelData } from "../../providers/models/model_data.ts";
import { AppExtensionAdmin } from "../extensions/extension_admin.ts";
import { buildRouter, unpricedRoot } from "../providers/build_router.ts";
import { addressSetting } from "../providers/choose_providers.ts";
import { AppProviderAdmin } from "../providers/provider_admin.ts";
import { folderFault } from "../services/readiness.ts";
import { telegramToken } from "../services/telegram.ts";
import type { SessionParts } from "../session/open_session.ts";
import { readSettings, type Settings } from "../settings/settings.ts";
import { runtimeSince } from "../version.ts";
import { diagnoseCommands, diagnoseSandbox } from "./walls.ts";

/** If the settings are unusable, the result has their fault and the checks that need no settings. */
export async function doctor(
  { signal, ...request }: OpenRequest & { readonly signal?: AbortSignal | undefined },
  parts: SessionParts,
): Promise<readonly CheckResult[]> {
  let settings: Settings;
  try {
    settings = await readSettings(request, parts.env, parts);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const walls = await diagnoseSandbox({ config: DEFAULT_CONFIG }, { signal });
    if (signal?.aborted) throw new Cancelled("Cancelled");
    return [checkRuntime(walls), settingsFault(error), ...walls];
  }
  const [ofSettings, walls, ...found] = await Promise.all([
    diagnoseSettings(settings),
    diagnoseSandbox(settings, { signal }),
    diagnoseCommands(settings, { parts, signal }),
    diagnoseDatabase(settings),
    abortable(diagnoseProviders(settings), signal).catch((error: unknown) => {
      if (signal?.aborted) return [];
      throw error;
    }),
    diagnoseExtensions(settings, parts),
    diagnoseTelegram(settings),
  ]);
  if (signal?.aborted) throw new Cancelled("Cancelled");
  return [checkRuntime(walls), ...ofSettings, ...walls, ...found.flat()];
}

export function checkRuntime(
  walls: readonly Pick<CheckResult, "name" | "state">[],
  { deno, v8 }: Pick<typeof Deno.version, "deno" | "v8"> = Deno.version,
): CheckResult {
  const found = `deno ${deno}, v8 ${v8}${Deno.build.standalone ? ", compiled" : ""}`;
  // The kernel wall confines a process that bypasses the permissions of the runtime.
  if (runtimeSince("2.8.1", deno) || walls.some(({ name, state }) => name === "wall: kernel" && state === "ok")) {
    return { name: "runtime", state: "ok", found, fix: "" };
  }
  const fix = "Runtimes before 2.8.1 have known permission bypasses, which do not affect the other walls; " +
    (Deno.build.standalone
      ? "vis update installs a newer release, if there is one"
      : "start Vis with bin/vis, which installs its runtime");
  return { name: "runtime", state: "warn", found, fix };
}

export function settingsFault(error: ConfigError): CheckResult {
  return { name: "settings", state: "fail", found: error.message, fix: settingsFix(error) };
}

function settingsFix(error: ConfigError): string {
  if (error instanceof SettingError) {
    const project = error.project ? " --project" : "";
    const remove = `Remove the setting with vis config unset${project} ${error.key}`;
    if (error.code === "unknown") return remove;
    if (error.code === "untrusted") return `${remove}; or ${error.advice}`;
    return `${remove}; vis config explain ${error.key} shows its type`;
  }
  if (error.code === "access") {
    return "Correct the file, or let Vis read it; for a file in Vis's own folder, you can also set VIS_HOME to another folder";
  }
  if (error.code === "syntax") return "Correct the file: it must be JSON with comments";
  return error.advice || "Correct this, and run vis doctor again";
}

async function diagnoseSettings({ home, layers }: Settings): Promise<readonly CheckResult[]> {
  const given = layers.filter(({ layer }) => layer === "user" || layer === "project" || layer === "run");
  const found = given.map(({ where }) => where("")).join(", ") || "no settings file";
  const checks: CheckResult[] = [{ name: "settings", state: "ok", found, fix: "" }];
  for (const note of layers.flatMap(({ ignored = [] }) => ignored)) {
    checks.push({ name: "settings", state: "warn", found: note, fix: "Remove the setting from the file" });
  }
  if (home === null) {
    const fix = "Set VIS_HOME to a writable folder";
    return [...checks, { name: "home", state: "warn", found: "none", fix }];
  }
  checks.push(await diagnoseHome(home));
  for (const name of ["auth.json", "server-token"]) {
    const open = await openToOthers(join(home, name));
    if (open !== "") {
      checks.push({
        name,
        state: name === "auth.json" ? "fail" : "warn",
        found: open,
        fix: `chmod 600 ${join(home, name)}`,
      });
    }
  }
  return checks;
}

async function diagnoseHome(home: string): Promise<CheckResult> {
  const name = "home";
  const info = await Deno.stat(home).catch(() => null);
  if (info === null) {
    const why = folderFault(home);
    if (why === "") return { name, state: "ok", found: `${home} (created when first used)`, fix: "" };
    return { name, state: "fail", found: `Vis cannot create ${home}: ${why}`, fix: "Set VIS_HOME to another folder" };
  }
  if (!info.isDirectory) {
    return { name, state: "fail", found: `${home} is not a folder`, fix: "Set VIS_HOME to another folder" };
  }
  const probe = join(home, `.doctor-${crypto.randomUUID()}`);
  try {
    // A full disk can still accept an empty file, so the file has content.
    await Deno.writeTextFile(probe, " ".repeat(8192), { createNew: true });
    return { name, state: "ok", found: home, fix: "" };
  } catch (error) {
    const fix = HOME_FIXES[fileCode(error)] ??
      "Correct the owner and permissions of the folder, or set VIS_HOME to another folder";
    return { name, state: "fail", found: `Vis cannot write in ${home}: ${fileFault(error)}`, fix };
  } finally {
    await Deno.remove(probe).catch(() => {});
  }
}

const HOME_FIXES: Readonly<Record<string, string>> = {
  ENOSPC: "Free some disk space",
  EROFS: "Mount the disk for writing, or set VIS_HOME to another folder",
};

async function openToOthers(path: string): Promise<string> {
  const mode = await Deno.stat(path).then((info) => info.mode, () => null);
  if (Deno.build.os === "windows" || mode === null || (mode & 0o077) === 0) return "";
  return `other users have access to ${path} (mode ${(mode & 0o777).toString(8)})`;
}

const FIXES: Readonly<Record<StoreErrorCode, string>> = {
  busy: "Another process is using the database: try again when that process has ended",
  full: "Free some disk space; vis db prune and vis db vacuum help",
  readonly: "Make the file and its folder writable, or use another database: --db, VIS_DB",
  moved: "Leave the file and its log in place while Vis uses them, and try again",
  corrupt:
    "Keep a copy of the file, then restore a backup with vis db restore PATH; or use another database: --db, VIS_DB",
  newer: "Use the newer Vis, or use another database: --db, VIS_DB",
  unavailable: "Use another database: --db, VIS_DB, VIS_DATABASE_URL",
};

const ROLE = "Connect as an ordinary role that owns the database: CREATE ROLE vis LOGIN, CREATE DATABASE vis OWNER vis";

async function diagnoseDatabase(
  { database, databasePassword }: Pick<Settings, "database" | "databasePassword">,
): Promise<CheckResult> {
  const name = "database";
  if (database !== ":memory:" && !isPostgres(database) && !await exists(database)) {
    const why = folderFault(dirname(database));
    if (why !== "") return { name, state: "fail", found: `Vis cannot create ${database}: ${why}`, fix: FIXES.readonly };
    return { name, state: "ok", found: `${database} (created when first used)`, fix: "" };
  }
  try {
    const store = await openStore({ path: database, password: databasePassword });
    try {
      const problems = await store.check();
      if (problems.length === 0) return { name, state: "ok", found: store.location, fix: "" };
      if (isPostgres(database)) return { name, state: "warn", found: problems.join("; "), fix: ROLE };
      return { name, state: "fail", found: problems.slice(0, 3).join("; "), fix: FIXES.corrupt };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { name, state: "fail", found: error.message, fix: FIXES[error.code] };
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, (error) => !(error instanceof Deno.errors.NotFound));
}

const REACH_MS = 5_000;
const OLD_DAYS = 180;
const NO_PROVIDER =
  "Log in with vis auth login, or set VIS_BASE_URL and VIS_MODEL for an OpenAI-compatible server; vis " +
  "demo needs no model";

async function diagnoseProviders(settings: Settings): Promise<readonly CheckResult[]> {
  // A fault of the key file affects all providers, so only `rootOf` reports the fault.
  const others = othersOf(settings).catch((error: unknown) => {
    if (error instanceof ConfigError) return [];
    throw error;
  });
  return [await rootOf(settings), ...await pricesOf(settings), ...await others];
}

async function pricesOf(settings: Settings): Promise<readonly CheckResult[]> {
  const name = "prices";
  const router = await buildRouter(settings).catch((error: unknown) => {
    if (error instanceof ConfigError) return null;
    throw error;
  });
  if (router === null) return [];
  const fault = unpricedRoot(router, settings);
  if (fault !== null) return [{ name, state: "fail", ...fault }];
  const { date } = await loadModelData("anthropic", settings.home);
  const days = Math.floor((Date.now() - Date.parse(date)) / 86_400_000);
  const found = `of ${date}`;
  if (days <= OLD_DAYS) return [{ name, state: "ok", found, fix: "" }];
  return [{
    name,
    state: "warn",
    found: `${found}: ${days} days old`,
    fix: "Run vis models --refresh, or update Vis with vis update",
  }];
}

async function rootOf(settings: Settings): Promise<CheckResult> {
  const name = "provider";
  try {
    const router = await buildRouter(settings);
    const { provider, model } = router.current();
    const { address = "", from = "" } = (await keyOf(provider.name, settings)) ?? {};
    const found = `${provider.name} ${model}${address === "" ? "" : `, ${address}`}`;
    try {
      const models = await provider.models({ signal: AbortSignal.timeout(REACH_MS) });
      if (models.length === 0 || models.includes(model)) return { name, state: "ok", found, fix: "" };
      const known = models.slice(0, 5).join(", ");
      return {
        name,
        state: "warn",
        found: `${found}: the server does not list this model`,
        fix: `Choose a model that the server lists, such as ${known}`,
      };
    } catch (error) {
      const why = messageOf(error);
      return { name, state: "fail", found: `${found}: ${why}`, fix: fixOf(provider.name, { settings, from }) };
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Vis can show and replay stored conversations without a provider.
    if (error.code === "no_provider") return { name, state: "warn", found: error.problem, fix: NO_PROVIDER };
    const fix = error.advice || "Run vis providers for the state of each provider";
    return { name, state: "fail", found: error.problem, fix };
  }
}

async function keyOf(name: string, settings: Settings): Promise<KeyReport | undefined> {
  const keys = await new AppProviderAdmin(settings).keys();
  return keys.find(({ provider }) => provider === name);
}

function fixOf(name: string, { settings, from }: { readonly settings: Settings; readonly from: string }): string {
  const given = addressSetting(settings);
  const ownKey = isVariable(from) ? from : given === null ? `vis auth login ${name}` : "VIS_API_KEY";
  const address = given ?? `the baseUrl of ${name} in config.jsonc`;
  return `Start the server, or check ${address} and its key (${ownKey}); then run vis providers --check`;
}

/** A key in a variable overrides a saved key. */
function isVariable(from: string): boolean {
  return from !== "" && from !== "auth.json";
}

async function othersOf(settings: Settings): Promise<readonly CheckResult[]> {
  const admin = new AppProviderAdmin(settings);
  const { providers } = await admin.providers({ check: true, signal: AbortSignal.timeout(2 * REACH_MS) });
  return providers.filter(({ root }) => !root).map(({ name, key, reach }): CheckResult => {
    const at = `provider: ${name}`;
    if (key.fix !== "") return { name: at, state: "warn", found: "it has no key", fix: key.fix };
    if (reach?.ok) return { name: at, state: "ok", found: reach.found, fix: "" };
    const renew = isVariable(key.from) ? `correct ${key.from}` : `save its key with vis auth login ${name}`;
    const fix = `Check its address, or ${renew}`;
    return { name: at, state: "warn", found: reach?.found ?? "not checked", fix };
  });
}

async function diagnoseExtensions(settings: Settings, parts: SessionParts): Promise<readonly CheckResult[]> {
  const name = "extensions";
  try {
    const all = await new AppExtensionAdmin(settings, parts).list();
    const loaded = all.filter(({ state }) => state === "loaded");
    const { allow, deny } = settings.config.extensions;
    const unknown = await new AppExtensionAdmin(settings, parts).unknown([...allow ?? [], ...deny]);
    const denied = (one: string): boolean => settings.config.extensions.deny.includes(one);
    const faults = all.filter((one) =>
      one.state !== "loaded" && one.state !== "off" && !denied(one.name) &&
      (one.path !== "" || one.state === "misconfigured")
    );
    return [
      { name, state: "ok", found: `${loaded.length} loaded: ${loaded.map((one) => one.alias).join(", ")}`, fix: "" },
      ...faults.map((one): CheckResult => ({
        name: `extension: ${one.name}`,
        state: "warn",
        found: one.reason,
        fix: one.state === "untrusted"
          ? "Review the extension, then run vis extensions trust"
          : one.state === "misconfigured"
          ? "Correct its settings; vis config explain extensions.config shows them"
          : `Run vis extensions check ${one.path}, or add ${one.name} to extensions.deny`,
      })),
      ...unknown.map((found): CheckResult => (
        { name, state: "warn", found, fix: "Correct extensions.allow or extensions.deny with vis config set" }
      )),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof UsageError)) throw error;
    return [{ name, state: "fail", found: error.message, fix: "Run vis extensions list, which shows each extension" }];
  }
}

export async function diagnoseTelegram(settings: Settings): Promise<readonly CheckResult[]> {
  const name = "telegram";
  const { allow } = settings.config.telegram;
  try {
    const token = await telegramToken({}, settings);
    if (token === null) {
      if (allow.length === 0) return [{ name, state: "off", found: "no token is saved", fix: "" }];
      const fix = "Save the token from @BotFather with vis auth login telegram";
      return [{ name, state: "warn", found: "telegram.allow lists users, but no token is saved", fix }];
    }
    const found = `token from ${token.from}, ${allow.length === 0 ? "nobody" : allow.length} allowed`;
    if (allow.length > 0) return [{ name, state: "ok", found, fix: "" }];
    return [{ name, state: "warn", found, fix: "Run vis telegram allow ID; the bot sends refused users their id" }];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{
      name,
      state: "fail",
      found: error.message,
      fix: "Run vis auth login telegram, or set VIS_TELEGRAM_TOKEN",
    }];
  }
}
