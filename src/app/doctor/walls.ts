import type { CheckResult } from "../../channels/channel.ts";
import { ConfigError, messageOf } from "../../domain/errors.ts";
import { REAL_CLOCK } from "../../domain/kit/concurrency.ts";
import { oneLine } from "../../domain/kit/text.ts";
import { routerFacts } from "../../environment/environment_for_extensions.ts";
import { answerInTime } from "../../extension/active_extensions.ts";
import { discoverFolders } from "../../extension/discover.ts";
import type { ProgramWalls, UnwalledMode } from "../../extension/spawn_types.ts";
import type { DoctorContext } from "../../extension/spec.ts";
import { AskedPrograms, programWall, type WallState } from "../../processes/approved/approved_programs.ts";
import { landlockFault } from "../../processes/linux/known_wall.ts";
import { probeWalls, type WallProbe } from "../../sandbox/host/probe_walls.ts";
import type { WallName } from "../../sandbox/sandbox.ts";
import { buildRegistry } from "../extensions/extension_source.ts";
import { buildRouter } from "../providers/build_router.ts";
import { tryWalls } from "../session/open_session.ts";
import {
  type EnvironmentVariables,
  programSettings,
  rootOf,
  type Settings,
  type ShippedParts,
} from "../settings/settings.ts";

/** After the signal aborts, the results are incomplete, and the caller discards them. */
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
      ? "No block can run until sandbox.launcher is corrected; vis config explain sandbox.launcher shows this setting"
      : "No block can run until the sandbox starts";
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
      ? "Activate the missing wall, or remove it from sandbox.require"
      : "No block can run until the sandbox starts; vis config list --all shows the settings sandbox.*";
    const found = error instanceof ConfigError ? error.problem : messageOf(error);
    return [{ name, state: "fail", found, fix }, ...walls];
  }
}

function carrier(launcher: readonly string[]): string {
  return launcher.length > 0 ? `${shown(launcher)}: ` : "";
}

function shown(launcher: readonly string[]): string {
  return oneLine(launcher.join(" "), 60);
}

export function wallChecks(
  probes: readonly WallProbe[],
  { require, os }: { readonly require: readonly WallName[]; readonly os: typeof Deno.build.os },
): readonly CheckResult[] {
  const optional: readonly WallName[] = os === "linux" ? ["kernel"] : ["kernel", "process"];
  return probes.map(({ wall, holds, found }) => {
    const required = require.includes(wall);
    const fix = holds ? "" : `${found.fix}${required ? "; sandbox.require names it, so no block runs" : ""}`;
    const state = holds ? "ok" : optional.includes(wall) && !required ? "warn" : "fail";
    return { name: `wall: ${wall}`, state, found: found.text, fix };
  });
}

const TIMEOUT_MS = 10_000, EXTENSION_MS = 120_000;

interface Options {
  readonly parts: ShippedParts & { readonly env: EnvironmentVariables };
  readonly signal?: AbortSignal | undefined;
  readonly state?: () => Promise<WallState>;
}

export async function diagnoseCommands(
  settings: Settings,
  { parts, signal, state }: Options,
): Promise<readonly CheckResult[]> {
  const workspace = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-doctor-" }));
  const { env } = parts;
  const wall = programWall({
    home: env["HOME"] || null,
    visHome: settings.home,
    read: settings.readFolders,
    network: false,
    secrets: settings.config.secrets,
    env,
  });
  const unwalled = programSettings(settings).unwalled;
  const programs = new AskedPrograms({
    wall,
    mode: "run", // The user started the checks, so commands may run behind an incomplete wall.
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
    const here = fault === null ? await faultOf(spawnInWorkspace) : null;
    const runs = fault === null && (unwalled !== "off" || (await programs.state()).whole);
    const own = fault === null && here === null ? await foundOf(programs, unwalled) : {
      state: "warn",
      found: fault ?? here ?? "",
      fix: here === null ? "No extension can run a program until /bin/sh runs behind the wall" : "",
    } as const;
    return [
      { name: "commands", ...own },
      ...await askExtensions(settings, {
        parts,
        root: rootOf(settings, env),
        spawn: runs ? spawn : null,
        spawnInWorkspace: runs && here === null ? spawnInWorkspace : null,
      }),
    ];
  } finally {
    await Deno.remove(workspace, { recursive: true });
  }
}

const UNWALLED: Readonly<Record<UnwalledMode, string>> = {
  ask: "Vis asks you before each command without a lasting approval",
  run: "they run without a question, because shell.unwalled is run",
  off: "Vis runs none of them, because shell.unwalled is off or sandbox.require names kernel",
};

async function foundOf(programs: AskedPrograms, mode: UnwalledMode): Promise<Omit<CheckResult, "name">> {
  const state = await programs.state();
  if (state.whole) {
    return { state: "ok", found: `run behind a complete wall, with ${socketsOf(await programs.walls())}`, fix: "" };
  }
  const wall = state.some ? "their wall is incomplete" : "they have no wall";
  const fix = wholeWallFix(machineFacts(), { landlock: await landlockFault(), mode });
  return { state: "warn", found: `${wall}: ${state.reason}; ${UNWALLED[mode]}`, fix };
}

function socketsOf({ loopback, unix, hides }: ProgramWalls): string {
  const secrets = hides ? "secret files are hidden" : "secret files of the workspace can be read";
  if (!loopback) return `no sockets; ${secrets}`;
  return `${unix ? "their own network and unix sockets" : "their own network, without unix sockets"}; ${secrets}`;
}

async function faultOf(spawn: NonNullable<DoctorContext["spawn"]>): Promise<string | null> {
  try {
    const { code, signal } = await spawn(["/bin/sh", "-c", "exit 0"], { loopback: "doctor" });
    return code === 0 ? null : `Cannot run commands: /bin/sh ended with ${signal ?? `exit code ${code}`}`;
  } catch (error) {
    return messageOf(error);
  }
}

async function askExtensions(
  settings: Settings,
  { parts, root, ...spawns }:
    & { readonly parts: ShippedParts; readonly root: string | null }
    & Pick<
      DoctorContext,
      "spawn" | "spawnInWorkspace"
    >,
): Promise<readonly CheckResult[]> {
  const { loaded, registry } = await buildRegistry(settings, parts, {
    folders: settings.home === null ? [] : await discoverFolders(settings),
    off: true,
  });
  const { workspace, home } = settings;
  const models = await buildRouter(settings).catch((error: unknown) => {
    if (error instanceof ConfigError) return null;
    throw error;
  });
  const place = {
    ...{ workspace, home },
    ...root === null || root === workspace ? {} : { root },
    ...models ? { router: routerFacts(models) } : {},
  };
  const asked = loaded.map(async ({ namespace, doctor }): Promise<readonly CheckResult[]> => {
    try {
      const asked = () => doctor?.({ config: registry.configOf(namespace), ...spawns, ...place });
      return await answerInTime(asked, { ms: EXTENSION_MS, clock: REAL_CLOCK }) ?? [];
    } catch (error) {
      const fix = "The extension has a fault; add its name to extensions.deny";
      return [{ name: `extension: ${namespace}`, state: "warn", found: messageOf(error), fix }];
    }
  });
  return (await Promise.all(asked)).flat();
}

export interface MachineFacts {
  readonly os: typeof Deno.build.os;
  readonly executable: string;
  readonly isRoot: boolean;
  readonly read: (path: string) => string;
  readonly exists: (path: string) => boolean;
}

const MARKS_OF_CONTAINERS = ["/.dockerenv", "/run/.containerenv"];
const SYSCTL = "/proc/sys";
const NAMESPACES = 15_000;

function machineFacts(): MachineFacts {
  return {
    os: Deno.build.os,
    executable: Deno.execPath(),
    isRoot: Deno.uid() === 0,
    read: (path) => {
      try {
        return Deno.readTextFileSync(path).trim();
      } catch {
        return "";
      }
    },
    exists: (path) => {
      try {
        Deno.statSync(path);
        return true;
      } catch {
        return false;
      }
    },
  };
}

export function wholeWallFix(
  facts: MachineFacts,
  { landlock, mode }: {
    readonly landlock: string | null;
    readonly mode: UnwalledMode;
  },
): string {
  const { os, read, exists, isRoot } = facts;
  if (os === "windows") return "Run Vis in WSL 2, where the wall can be complete";
  if (os !== "linux") return "Run Vis in a Linux virtual machine or container, where the wall can be complete";
  if (/gvisor/i.test(read("/proc/version"))) {
    return "gVisor has no Landlock: run the container with runc (--runtime=runc)";
  }
  if (landlock !== null) {
    const modules = read("/sys/kernel/security/lsm");
    return modules === "" || modules.split(",").includes("landlock")
      ? "Use Linux 6.2 or later"
      : `Boot with the kernel parameter lsm=landlock,${modules}`;
  }
  const isContainer = MARKS_OF_CONTAINERS.some(exists) || /docker|containerd|kubepods|lxc/.test(read("/proc/1/cgroup"));
  if (isContainer) {
    const flags = isRoot
      ? "--cap-add SYS_ADMIN --security-opt apparmor=unconfined"
      : "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined";
    const unasked =
      "; in a container that you delete afterwards, vis config set shell.unwalled run turns the questions off";
    return `Start the container with ${flags}${mode === "ask" ? unasked : ""}`;
  }
  if (isRoot) return "Give Vis the capability CAP_SYS_ADMIN, or run Vis as an ordinary user";
  if (read(`${SYSCTL}/user/max_user_namespaces`) === "0") return lasting("user.max_user_namespaces", `${NAMESPACES}`);
  if (read(`${SYSCTL}/kernel/unprivileged_userns_clone`) === "0") {
    return lasting("kernel.unprivileged_userns_clone", "1");
  }
  if (read(`${SYSCTL}/kernel/apparmor_restrict_unprivileged_userns`) === "1") {
    const lines = apparmorProfile(facts.executable).trimEnd().split("\n").map((line) => `'${line}'`).join(" ");
    const file = "/etc/apparmor.d/vis-agent";
    return `Give Vis an AppArmor profile: printf '%s\\n' ${lines} | sudo tee ${file} && sudo apparmor_parser -r ${file}`;
  }
  return "Run vis logs: the entry namespaces_given_up names what the kernel refused";
}

export function apparmorProfile(executable: string): string {
  return `abi <abi/4.0>,
include <tunables/global>
profile vis-agent ${/\s/.test(executable) ? `"${executable}"` : executable} flags=(unconfined) {
  userns,
}
`;
}

function lasting(name: string, value: string): string {
  return `Allow user namespaces: echo ${name}=${value} | sudo tee /etc/sysctl.d/60-vis.conf && sudo sysctl --system`;
}
