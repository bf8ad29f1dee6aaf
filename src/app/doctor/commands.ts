import type { CheckResult } from "../../channels/channel.ts";
import { messageOf } from "../../domain/errors.ts";
import { REAL_CLOCK } from "../../domain/kit/time.ts";
import { answerInTime } from "../../extension/answer_in_time.ts";
import { discoverFolders } from "../../extension/loading/discover.ts";
import type { ProgramWalls, UnwalledMode } from "../../extension/spawned.ts";
import type { DoctorContext } from "../../extension/spec.ts";
import { AskedPrograms, type WallState } from "../../processes/asked/asked_programs.ts";
import { landlockFault } from "../../processes/landlock_fault.ts";
import { programWall } from "../../processes/program_wall.ts";
import { buildRegistry } from "../extensions/extension_source.ts";
import { programSettings } from "../settings/program_settings.ts";
import type { EnvironmentVariables, Settings } from "../settings/settings.ts";
import type { ShippedParts } from "../settings/shipped_parts.ts";
import { machineFacts, wholeWallFix } from "./whole_wall.ts";

const TIMEOUT_MS = 10_000, EXTENSION_MS = 120_000;

interface Options {
  readonly parts: ShippedParts & { readonly env: EnvironmentVariables };
  readonly signal?: AbortSignal | undefined;
  /** That of the machine, unless a test sets another. */
  readonly state?: () => Promise<WallState>;
}

/** Checks whether programs run behind their wall, and runs the extensions' own checks. `signal` ends whatever is
 * running; nothing of it is left. */
export async function diagnoseCommands(
  settings: Settings,
  { parts, signal, state }: Options,
): Promise<readonly CheckResult[]> {
  const workspace = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-doctor-" }));
  const { env } = parts;
  const wall = programWall({
    private: { home: env["HOME"] || null, visHome: settings.home },
    read: programSettings(settings, parts).read,
    network: false,
    secrets: settings.config.secrets,
    env,
  });
  const unwalled = programSettings(settings, parts).unwalled;
  const programs = new AskedPrograms({
    wall,
    mode: "run", // the user runs the checks
    env,
    visHome: settings.home,
    vouches: () => false,
    ...state ? { state } : {},
  });
  const ended = (own?: AbortSignal): { readonly signal?: AbortSignal } => {
    const signals = [own, signal].filter((one) => one !== undefined);
    return signals.length === 0 ? {} : { signal: AbortSignal.any(signals) };
  };
  const spawn: NonNullable<DoctorContext["spawn"]> = (argv, options) =>
    programs.spawn(workspace, argv, { timeoutMs: TIMEOUT_MS, ...options, ...ended(options?.signal) });
  const spawnInWorkspace: typeof spawn = (argv, options) =>
    programs.spawn(settings.workspace, argv, { timeoutMs: TIMEOUT_MS, ...options, ...ended(options?.signal) });
  try {
    const fault = await faultOf(spawn);
    const runs = fault === null && (unwalled !== "off" || (await programs.state()).whole);
    const own = fault === null
      ? await foundOf(programs, unwalled)
      : { state: "warn", found: fault, fix: "No extension can run a program until this is fixed" } as const;
    return [
      { name: "commands", ...own },
      ...await askExtensions(settings, {
        parts,
        spawn: runs ? spawn : null,
        spawnInWorkspace: runs ? spawnInWorkspace : null,
      }),
    ];
  } finally {
    await Deno.remove(workspace, { recursive: true });
  }
}

const UNWALLED: Readonly<Record<UnwalledMode, string>> = {
  ask: "you are asked before each",
  run: "they run without a question (shell.unwalled is run)",
  off: "none runs (shell.unwalled is off, or sandbox.require has kernel)",
};

/** Whether the wall is whole; if not, why, what happens to commands, and what makes it whole. */
async function foundOf(programs: AskedPrograms, mode: UnwalledMode): Promise<Omit<CheckResult, "name">> {
  const state = await programs.state();
  if (state.whole) {
    return { state: "ok", found: `run behind a whole wall, with ${socketsOf(await programs.walls())}`, fix: "" };
  }
  const wall = state.some ? "their wall is not whole" : "they have no wall";
  const fix = wholeWallFix(machineFacts(), { landlock: await landlockFault(), mode });
  return { state: "warn", found: `${wall}: ${state.reason}; ${UNWALLED[mode]}`, fix };
}

function socketsOf({ loopback, unix, hides }: ProgramWalls): string {
  const secrets = hides ? "secret files are hidden" : "secret files of the workspace can be read";
  if (!loopback) return `no sockets; ${secrets}`;
  return `${unix ? "their own network and unix sockets" : "their own network, without unix sockets"}; ${secrets}`;
}

/** Why no command runs; null if one does. */
async function faultOf(spawn: NonNullable<DoctorContext["spawn"]>): Promise<string | null> {
  try {
    const { code, signal } = await spawn(["/bin/sh", "-c", "exit 0"], { loopback: "doctor" });
    return code === 0 ? null : `Cannot run commands: /bin/sh ended with ${signal ?? code}`;
  } catch (error) {
    return messageOf(error);
  }
}

async function askExtensions(
  settings: Settings,
  { parts, ...spawns }: { readonly parts: ShippedParts } & Pick<DoctorContext, "spawn" | "spawnInWorkspace">,
): Promise<readonly CheckResult[]> {
  const { loaded, registry } = await buildRegistry(settings, parts, {
    folders: settings.home === null ? [] : await discoverFolders(settings),
    off: true,
  });
  const { workspace, home } = settings;
  const asked = loaded.map(async ({ namespace, doctor }): Promise<readonly CheckResult[]> => {
    try {
      const asked = () => doctor?.({ config: registry.configOf(namespace), ...spawns, workspace, home });
      return await answerInTime(asked, { ms: EXTENSION_MS, clock: REAL_CLOCK }) ?? [];
    } catch (error) {
      const fix = "This is a fault of the extension; exclude it with extensions.deny";
      return [{ name: `extension: ${namespace}`, state: "warn", found: messageOf(error), fix }];
    }
  });
  return (await Promise.all(asked)).flat();
}
