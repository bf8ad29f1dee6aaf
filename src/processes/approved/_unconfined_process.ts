import { delimiter, isAbsolute } from "node:path";
import { advised } from "../../domain/errors.ts";
import { clip } from "../../domain/kit/text.ts";
import { CommandFolder } from "../_command_folder.ts";
import { runToEnd, writeInput } from "../_program_run.ts";
import type { Spawned, SpawnOptions } from "../../extension/spawn_types.ts";

const DEFAULT_PATH = Deno.build.os === "windows" ? "" : "/usr/bin:/bin";
/** A process outside the group may hold outputs open for longer. */
const DRAIN_MS = 500;
/** Except for PATH, other variables, such as keys, reach a program only if the caller passes them. */
const INHERITED =
  "HOME USER LOGNAME LANG LC_ALL LC_CTYPE TZ TMPDIR SystemRoot SystemDrive windir ComSpec PATHEXT USERPROFILE APPDATA LOCALAPPDATA ProgramFiles TEMP TMP"
    .split(" ");

interface FreeProcessOptions extends Omit<SpawnOptions, "cwd"> {
  readonly cwd: string | null;
  readonly own: Readonly<Record<string, string | undefined>>;
}

/** When the program ends, Vis kills the rest of its process group. */
export async function runFree(argv: readonly string[], options: FreeProcessOptions): Promise<Spawned> {
  if (options.cwd !== null) return await runIn(options.cwd, argv, options);
  const folder = CommandFolder.make();
  try {
    return await runIn(folder.path, argv, options);
  } finally {
    await folder.remove();
  }
}

async function runIn(cwd: string, argv: readonly string[], options: FreeProcessOptions): Promise<Spawned> {
  const { input, own } = options;
  options.signal?.throwIfAborted();
  const [program = "", ...args] = systemCommand(argv);
  const inherited = INHERITED.flatMap((name) => own[name] === undefined ? [] : [[name, own[name]]]);
  const process = new Deno.Command(program, {
    args,
    cwd,
    clearEnv: true,
    env: {
      TERM: "dumb",
      ...Object.fromEntries(inherited),
      ...options.env,
      PATH: programFolders(own, options.env).join(delimiter),
    },
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
  const kill = (): void => sendToGroup(process.pid, "SIGKILL");
  const running = runToEnd(process, options, {
    ...{ kill, drainMs: DRAIN_MS },
    askToEnd: () => sendToGroup(process.pid, "SIGTERM"),
    ended: kill,
  });
  if (input !== undefined) void writeInput(process.stdin, input);
  const { status: { code, signal: by }, ...run } = await running;
  return { code, signal: by, ...run };
}

/** Relative folders may be inside the workspace, so they do not count. */
export function programFolders(
  own: FreeProcessOptions["own"],
  env: FreeProcessOptions["env"] = {},
): readonly string[] {
  const folders = (env["PATH"] ?? own["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  return folders.length > 0 ? folders : DEFAULT_PATH.split(delimiter).filter(isAbsolute);
}

/** On Windows, a command line for a shell goes to PowerShell. Throws Error for a batch file with characters in an
 * argument that batch files reinterpret. */
export function systemCommand(
  argv: readonly string[],
  os: typeof Deno.build.os = Deno.build.os,
): readonly string[] {
  if (os !== "windows") return argv;
  const [program = "", ...args] = argv;
  if (program === "/bin/sh" || program === "/bin/bash") {
    return ["pwsh", "-NoProfile", "-NonInteractive", "-Command", args.at(-1) ?? ""];
  }
  const unsafe = /\.(?:cmd|bat)$/i.test(program) ? args.find((arg) => /["%^&|<>\r\n]/.test(arg)) : undefined;
  if (unsafe === undefined) return argv;
  throw advised(
    new Error(
      `Cannot run ${program} with ${clip(JSON.stringify(unsafe), 200)}: batch files change line breaks and the ` +
        'characters " % ^ & | < >',
    ),
    "remove them",
  );
}

function sendToGroup(pid: number, signal: Deno.Signal): void {
  try {
    if (Deno.build.os === "windows") {
      new Deno.Command("taskkill", { args: ["/T", "/F", "/PID", `${pid}`] }).outputSync();
    } else Deno.kill(-pid, signal);
  } catch {
    // The group may have ended.
  }
}
