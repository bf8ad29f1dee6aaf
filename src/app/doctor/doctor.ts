import type { CheckResult, OpenRequest } from "../../channels/channel.ts";
import { DEFAULT_CONFIG } from "../../config/defaults.ts";
import { Cancelled, ConfigError } from "../../domain/errors.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { runtimeSince } from "../services/runtime_since.ts";
import type { SessionParts } from "../session/open_session.ts";
import { readSettings, type Settings } from "../settings/settings.ts";
import { diagnoseCommands } from "./commands.ts";
import { diagnoseDatabase } from "./database.ts";
import { diagnoseExtensions } from "./extensions.ts";
import { diagnoseProviders } from "./providers.ts";
import { diagnoseSandbox } from "./sandbox.ts";
import { diagnoseSettings, settingsFault } from "./settings.ts";
import { diagnoseTelegram } from "./telegram.ts";

/** Checks what Vis needs on this machine and suggests a fix for each fault. Never throws for a fault that it can name;
 * if the settings cannot be used, it runs the checks that need none. Rejects with `UsageError` for an invalid
 * workspace, and with `Cancelled` when the signal aborts, once every child has ended and every folder is removed. */
export async function doctor(
  { signal, ...request }: OpenRequest & { readonly signal?: AbortSignal | undefined },
  parts: SessionParts,
): Promise<readonly CheckResult[]> {
  const runtime = checkRuntime();
  let settings: Settings;
  try {
    settings = await readSettings(request, parts.env, parts);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const walls = await diagnoseSandbox({ config: DEFAULT_CONFIG }, { signal });
    if (signal?.aborted) throw new Cancelled("Cancelled");
    return [runtime, settingsFault(error), ...walls];
  }
  const found = await Promise.all([
    diagnoseSettings(settings),
    diagnoseSandbox(settings, { signal }),
    diagnoseCommands(settings, { parts, signal }),
    diagnoseDatabase(settings),
    abortable(diagnoseProviders(settings), signal).catch((error: unknown) => {
      if (signal?.aborted) return []; // after the signal no service is waited for
      throw error;
    }),
    diagnoseExtensions(settings, parts),
    diagnoseTelegram(settings),
  ]);
  if (signal?.aborted) throw new Cancelled("Cancelled");
  return [runtime, ...found.flat()];
}

function checkRuntime(): CheckResult {
  const { deno, v8 } = Deno.version;
  const found = `deno ${deno}, v8 ${v8}${Deno.build.standalone ? ", compiled" : ""}`;
  if (runtimeSince("2.8.1")) return { name: "runtime", state: "ok", found, fix: "" };
  const fix =
    "Runtimes before 2.8.1 have known permission bypasses. The other walls are not affected; install a newer build";
  return { name: "runtime", state: "warn", found, fix };
}
