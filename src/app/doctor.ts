import type { CheckResult, OpenRequest } from "../channels/channel.ts";
import { DEFAULT_CONFIG } from "../config/defaults.ts";
import { ConfigError } from "../domain/errors.ts";
import { probeWalls, type WallProbe } from "../sandbox/probe_walls.ts";
import { diagnoseCommands } from "./diagnose_commands.ts";
import { diagnoseDatabase } from "./diagnose_database.ts";
import { diagnoseExtensions } from "./diagnose_extensions.ts";
import { diagnoseProviders } from "./diagnose_providers.ts";
import { diagnoseSettings, settingsFault } from "./diagnose_settings.ts";
import { diagnoseTelegram } from "./diagnose_telegram.ts";
import type { SessionParts } from "./open_session.ts";
import { readSettings, type Settings } from "./settings.ts";
import { wallChecks } from "./wall_checks.ts";

/** Tries what Vis needs on this machine, and says what mends each fault. Never throws for one that it can name; where
 * the settings cannot be used, it tries what needs none. Rejects with `UsageError` for a workspace that is none. */
export async function doctor(request: OpenRequest, parts: SessionParts): Promise<readonly CheckResult[]> {
  const runtime = checkRuntime();
  let settings: Settings;
  try {
    settings = await readSettings(request, parts.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [runtime, settingsFault(error), ...await checkWalls({ config: DEFAULT_CONFIG })];
  }
  const found = await Promise.all([
    diagnoseSettings(settings),
    checkWalls(settings),
    diagnoseCommands(settings, parts.env),
    diagnoseDatabase(settings),
    diagnoseProviders(settings),
    diagnoseExtensions(settings, parts),
    diagnoseTelegram(settings),
  ]);
  return [runtime, ...found.flat()];
}

function checkRuntime(): CheckResult {
  const { deno, v8 } = Deno.version;
  const found = `deno ${deno}, v8 ${v8}${Deno.build.standalone ? ", compiled" : ""}`;
  const [major = 0, minor = 0, patch = 0] = deno.split(/[.+-]/).map(Number);
  const old = major < 2 || major === 2 && (minor < 8 || minor === 8 && patch < 1);
  if (!old) return { name: "runtime", state: "ok", found, mend: "" };
  const mend = "Runtimes below 2.8.1 have published permission bypasses: the other walls still hold, use a newer build";
  return { name: "runtime", state: "warn", found, mend };
}

async function checkWalls({ config }: Pick<Settings, "config">): Promise<readonly CheckResult[]> {
  let probes: readonly WallProbe[];
  try {
    probes = await probeWalls();
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return [{ name: "sandbox", state: "fail", found, mend: "No block can run before this is mended" }];
  }
  return wallChecks(probes, { require: config.sandbox.require, os: Deno.build.os });
}
