import type { CheckResult } from "../../channels/channel.ts";
import { ConfigError, messageOf } from "../../domain/errors.ts";
import { oneLine } from "../../domain/kit/text.ts";
import { probeWalls, type WallProbe } from "../../sandbox/host/probe_walls.ts";
import { tryWalls } from "../session/try_walls.ts";
import type { Settings } from "../settings/settings.ts";
import { wallChecks } from "./wall_checks.ts";

/** Checks what blocks will run in: a sandbox as configured, then each wall separately, behind the same launcher.
 * `signal` ends the children; the results are then meaningless. */
export async function diagnoseSandbox(
  { config }: Pick<Settings, "config">,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly CheckResult[]> {
  const name = "sandbox";
  const { launcher, memoryMiB, require } = config.sandbox;
  let probes: readonly WallProbe[];
  try {
    probes = await probeWalls({ launcher, signal });
  } catch (error) {
    const fix = launcher.length > 0
      ? "Fix sandbox.launcher (vis config explain sandbox.launcher): no block can run until then"
      : "No block can run until this is fixed";
    return [{ name, state: "fail", found: `${carrier(launcher)}${messageOf(error)}`, fix }];
  }
  const walls = wallChecks(probes, { require, os: Deno.build.os });
  try {
    await tryWalls({ config }, { signal });
    const found = `starts, ${memoryMiB} MiB for each conversation${
      launcher.length > 0 ? `, behind ${shown(launcher)}` : ""
    }`;
    return [{ name, state: "ok", found, fix: "" }, ...walls];
  } catch (error) {
    const fix = error instanceof ConfigError
      ? "Fix that wall, or remove it from sandbox.require"
      : "No block can run until this is fixed: vis config list shows what sandbox.* is set to";
    return [{ name, state: "fail", found: messageOf(error), fix }, ...walls];
  }
}

function carrier(launcher: readonly string[]): string {
  return launcher.length > 0 ? `${shown(launcher)}: ` : "";
}

function shown(launcher: readonly string[]): string {
  return oneLine(launcher.join(" "), 60);
}
