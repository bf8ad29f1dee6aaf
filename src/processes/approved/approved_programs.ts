import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { advised } from "../../domain/errors.ts";
import { isWithin } from "../../domain/kit/files.ts";
import { commandFacts, commandText, shellText, shorten } from "../../domain/kit/text.ts";
import { type ApprovalRequest, plainScopes } from "../../domain/query/approval.ts";
import type {
  NetworkScopes,
  ProgramWalls,
  SpawnCaller,
  Spawned,
  SpawnOptions,
  UnwalledMode,
} from "../../extension/spawn_types.ts";
import { realPathOf } from "../_paths.ts";
import { KnownWall, NotStarted, wallFault } from "../linux/known_wall.ts";
import type { LinuxWall, LinuxWallOptions } from "../linux/linux_wall.ts";
import type { AskedCommand, commandScopes, ScopePlace } from "./_command_scopes.ts";

/** If a hook of git starts Vis, these variables lead git to the repository of the hook. */
const OF_ONE_REPOSITORY = /^GIT_(?!SSH|ASKPASS|SSL_|EXEC_PATH$|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)$)/;
const OWN_FOLDER = "/nonexistent";
const LONGEST_QUESTION = 4_000, LONGEST_WHY = 1_000;

export type ProgramWall = Pick<LinuxWall, "spawn" | "walls">;

/** With `some`, programs run behind the existing part of the command wall. */
export type WallState = { readonly whole: true } | {
  readonly whole: false;
  readonly some: boolean;
  readonly reason: string;
};

export interface AskedProgramsOptions {
  readonly wall: ProgramWall;
  readonly state?: () => Promise<WallState>;
  readonly mode: UnwalledMode;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly visHome: string | null;
  /** If true, Vis trusts the extension's claim (`answered`) that the user has allowed a program. */
  readonly vouches: (extension: string) => boolean;
  /** A program in one of these folders gets no lasting approval; the default is temporary folders. */
  readonly temporary?: readonly string[];
}

export class AskedPrograms {
  readonly #options: AskedProgramsOptions;

  constructor(options: AskedProgramsOptions) {
    this.#options = options;
  }

  /** Without a caller, Vis itself runs a program that the user named. */
  async spawn(
    workspace: string,
    argv: readonly string[],
    { onBegin, answered = false, ...options }: SpawnOptions = {},
    caller: SpawnCaller | null = null,
  ): Promise<Spawned> {
    if (options.asUser) return await this.#runAsUser(workspace, argv, options, caller);
    const { mode, wall, vouches, env } = this.#options;
    let state = await this.state();
    if (state.whole) {
      try {
        onBegin?.();
        return await wall.spawn(workspace, argv, { ...options, whole: true });
      } catch (error) {
        options.signal?.throwIfAborted();
        if (!(error instanceof NotStarted)) throw error;
        // This attempt may be the first sign that the wall is incomplete.
        state = await this.state();
        if (state.whole) throw error;
      }
    }
    if (mode === "off") throw refusedWithoutWall(state);
    if (options.whole) {
      throw new Error(`Cannot run commands: ${state.reason}; vis doctor shows how to complete the command wall`);
    }
    const isAnswered = caller === null || answered && vouches(caller.extension);
    const cwd = mode === "run" || isAnswered
      ? await folderOf(workspace, options)
      : await this.#asked(workspace, { argv, options, state, caller });
    onBegin?.();
    if (state.some) return await wall.spawn(workspace, argv, { ...options, cwd });
    const { runFree } = await import("./_unconfined_process.ts");
    return await runFree(argv, { ...options, cwd, own: env });
  }

  /** A command may have changed programs in the workspace, so PATH and other variables lead to none of them. */
  async #runAsUser(
    workspace: string,
    argv: readonly string[],
    options: SpawnOptions,
    caller: SpawnCaller | null,
  ): Promise<Spawned> {
    const { mode, vouches, env } = this.#options;
    if (caller === null || !vouches(caller.extension)) {
      throw new Error(`Cannot run ${argv[0]} as the user: only shipped extensions can`);
    }
    if (mode === "off") {
      throw new Error(`Cannot run ${argv[0]} as the user: shell.unwalled is off or sandbox.require has kernel`);
    }
    const [{ programFolders, runFree }, { hasNoLinkInto, outsideWorkspace }, { RunningCommand }] = await Promise.all([
      import("./_unconfined_process.ts"),
      import("../_command_folder.ts"),
      import("../protected/running_commands.ts"),
    ]);
    const { keep = [], root: top = workspace, onBegin } = options;
    const other = RunningCommand.in(top).find((one) => keep.some((path) => one.canChange(path)));
    if (other !== undefined) {
      throw advised(
        new Error(`Cannot run ${argv[0]} as the user: ${other.title} could change ${keep.join(", ")}`),
        "stop that command first",
      );
    }
    const given = Object.entries(env).flatMap(([name, value]) =>
      value === undefined || OF_ONE_REPOSITORY.test(name) ? [] : [[name, value]]
    );
    const own = outsideWorkspace(top, {
      path: programFolders(env).filter((folder) => hasNoLinkInto(top, folder)).join(delimiter),
      env: { ...Object.fromEntries(given), ...options.env },
    }, "/usr/bin:/bin");
    await onBegin?.();
    return await runFree(argv, { ...options, cwd: null, own, env: own });
  }

  async walls(
    paths?: Pick<SpawnOptions, "write" | "cwd" | "root"> & { readonly workspace: string },
  ): Promise<ProgramWalls> {
    const { mode, wall, env, visHome } = this.#options;
    const state = await this.state();
    if (paths && (state.whole || state.some && mode !== "off")) {
      const { checkPaths } = await import("../_granted_paths.ts");
      checkPaths(paths.workspace, paths, { home: env["HOME"] || null, visHome });
    }
    if (state.whole) return await wall.walls();
    if (mode === "off") throw refusedWithoutWall(state);
    const unwalled = { mode, reason: state.reason, some: state.some };
    if (state.some) return { ...await wall.walls(), unwalled };
    const { reason } = state;
    return { network: true, whole: false, reason, loopback: true, unix: true, hides: false, leftOut: [], unwalled };
  }

  async networkScopes(workspace: string, argv: readonly string[], options: SpawnOptions): Promise<NetworkScopes> {
    const cwd = await folderOf(workspace, options) ?? OWN_FOLDER;
    const { leftOut } = await this.walls();
    const { found } = await this.#scopes(commandOf(argv), { workspace, cwd, options, leftOut, network: true });
    return found;
  }

  async state(): Promise<WallState> {
    return await (this.#options.state ?? (() => wallState(this.#options.wall)))();
  }

  async #asked(
    workspace: string,
    { argv, options, state, caller }: {
      readonly argv: readonly string[];
      readonly options: SpawnOptions;
      readonly state: WallState & { readonly whole: false };
      readonly caller: SpawnCaller;
    },
  ): Promise<string | null> {
    const command = commandOf(argv);
    const name = typeof command === "string" ? command : shellText(command);
    const look = async () => {
      const cwd = await folderOf(workspace, options);
      const leftOut = await this.#leftOut(state);
      return { cwd, ...await this.#scopes(command, { workspace, cwd: cwd ?? OWN_FOLDER, options, leftOut }) };
    };
    const shown = await look();
    const request = questionOf(command, {
      ...shown,
      workspace,
      options,
      state,
      home: this.#options.env["HOME"] ?? null,
    });
    const { allowed, reason } = await caller.ask?.(request) ?? { allowed: false, reason: "no user can answer here" };
    if (!allowed) {
      throw new Error(`Cannot run ${clipped(name)}: ${reason} (Vis asks before commands, because ${state.reason})`);
    }
    const now = await look();
    if (JSON.stringify(now) === JSON.stringify(shown)) return now.cwd;
    throw advised(
      new Error(`Cannot run ${clipped(name)}: its program or folder changed before the command began`),
      "run it again",
    );
  }

  async #leftOut(state: WallState & { readonly whole: false }): Promise<readonly string[]> {
    return state.some ? (await this.#options.wall.walls()).leftOut : [];
  }

  async #scopes(
    command: AskedCommand,
    { workspace, cwd, options, leftOut, network = false }: {
      readonly workspace: string;
      readonly cwd: string;
      readonly options: SpawnOptions;
      readonly leftOut: readonly string[];
      readonly network?: boolean;
    },
  ) {
    const [{ commandScopes, isHarmlessVariable }, { programFolders }] = await Promise.all([
      import("./_command_scopes.ts"),
      import("./_unconfined_process.ts"),
    ]);
    const { env, visHome, temporary = [tmpdir(), "/tmp", "/var/tmp", "/dev/shm"] } = this.#options;
    const paths = new Map<string, string>();
    const path = programFolders(env, options.env).filter((folder) => !leftOut.includes(folder));
    const { root = workspace } = options;
    const place: ScopePlace = {
      workspace,
      root,
      cwd,
      network,
      shell: Deno.build.os === "windows" ? "powershell" : "sh",
      changeable: [workspace, root, ...[...temporary, visHome ?? ""].flatMap((path) => realPathOf(path) ?? [])],
      find: (program) => {
        const at = program.includes("/") ? [resolve(cwd, program)] : path.map((folder) => join(folder, program));
        const [found = null] = at.filter(isProgram).flatMap((path) => realPathOf(path) ?? []);
        if (found !== null) paths.set(program, found);
        return found;
      },
      folder: realPathOf,
    };
    const found = commandScopes(command, place);
    const variable = Object.entries(options.env ?? {}).find((one) => !isHarmlessVariable(...one))?.[0];
    const extra = variable !== undefined
      ? `the command sets ${variable}`
      : options.input !== undefined && options.input !== ""
      ? "the command has an input"
      : null;
    return { found: extra === null || "never" in found ? found : { never: extra }, programs: [...paths.values()] };
  }
}

async function folderOf(workspace: string, options: SpawnOptions): Promise<string | null> {
  const { startFolder } = await import("../_granted_paths.ts");
  return startFolder(workspace, options);
}

function refusedWithoutWall({ reason }: { readonly reason: string }): Error {
  return new Error(
    `Cannot run commands: ${reason}, and shell.unwalled is off or sandbox.require has kernel; vis doctor shows how to ` +
      "complete the command wall",
  );
}

async function wallState(wall: Pick<ProgramWall, "walls">): Promise<WallState> {
  const isMac = Deno.build.os === "darwin", fault = isMac ? null : await wallFault();
  if (fault !== null) return { whole: false, some: false, reason: fault };
  const { whole, reason } = await wall.walls();
  return whole
    ? { whole }
    : { whole, some: !isMac, reason: isMac ? reason : `commands have no namespaces, as ${reason}` };
}

function commandOf(argv: readonly string[]): AskedCommand {
  const [shell, option, text] = argv;
  return argv.length === 3 && (shell === "/bin/sh" || shell === "/bin/bash") && option === "-c" && text !== undefined
    ? text
    : argv;
}

function questionOf(
  command: AskedCommand,
  { found, programs, cwd, workspace, options, state, home }: {
    readonly found: ReturnType<typeof commandScopes>;
    readonly programs: readonly string[];
    readonly cwd: string | null;
    readonly workspace: string;
    readonly options: SpawnOptions;
    readonly state: WallState & { readonly whole: false };
    readonly home: string | null;
  },
): ApprovalRequest {
  const { env = {}, input, write = [], network = false } = options;
  const outside = write.filter((path) => !isWithin(path, workspace));
  const facts = [
    state.some ? "behind an incomplete command wall" : "with no wall around it",
    state.some && network ? "with access to the network" : "",
    state.some && outside.length > 0 ? `changing ${shellText(outside)}` : "",
    typeof input === "object" ? "with an input that Vis writes while it runs" : "",
  ].filter((fact) => fact !== "");
  const place = cwd === null ? "an empty folder" : withTilde(cwd, home);
  const given = {
    env,
    input: typeof input === "string" ? input : "",
    cwd: cwd === workspace ? "" : place,
  };
  const what = `run a command ${[...facts, ...commandFacts(given)].join(", ")}`;
  const exact = commandText(command, {});
  const length = what.length + exact.length;
  if (length > LONGEST_QUESTION) {
    throw advised(
      new Error(
        `Cannot ask the user about this command: with its environment variables and input it has ${length} characters, more ` +
          `than the limit of ${LONGEST_QUESTION}`,
      ),
      "write the command or its input to a file",
    );
  }
  const scopes = "never" in found ? [] : found.scopes;
  const wall = state.some
    ? `It can change the settings of this repository and leave programs behind (${state.reason})`
    : `It can read and change all that you can (${state.reason})`;
  const runs = "never" in found ? [] : found.runs.map((text) => `${text}, which Vis can change`);
  const sentences = [
    `It runs ${programs.length === 0 ? "" : `${programs.join(", ")} `}in ${place}`,
    [wall, ...runs].join(", and "),
    ..."never" in found ? [`Vis asks every time, because ${found.never}`] : [],
  ];
  return {
    what,
    exact,
    why: clipped(`${sentences.join(". ")}.`, LONGEST_WHY),
    scope: scopes.length === 0 ? "this command" : clipped(plainScopes(scopes).join(", "), 300),
    scopes,
    lasting: scopes.length > 0,
    option: "--set shell.unwalled=run",
  };
}

function withTilde(path: string, home: string | null): string {
  return home !== null && home !== "/" && isWithin(path, home) ? `~${path.slice(home.length)}` : path;
}

function clipped(text: string, most = 200): string {
  return shorten(text, most);
}

function isProgram(path: string): boolean {
  try {
    const { isFile, mode } = Deno.statSync(path);
    return isFile && (mode === null || (mode & 0o111) !== 0);
  } catch {
    return false;
  }
}

export function programWall(options: LinuxWallOptions): ProgramWall {
  const isMac = Deno.build.os === "darwin";
  const known = isMac ? null : new KnownWall(options);
  let loaded: Promise<ProgramWall> | null = null;
  const wall = () => loaded ??= known === null ? macWall(options) : linuxWall(options, known);
  return {
    spawn: async (...call) => await (await wall()).spawn(...call),
    walls: async () => await (known ?? await wall()).walls(),
  };
}

async function linuxWall(options: LinuxWallOptions, known: KnownWall): Promise<ProgramWall> {
  const { LinuxWall } = await import("../linux/linux_wall.ts");
  return new LinuxWall(options, known);
}

async function macWall(options: LinuxWallOptions): Promise<ProgramWall> {
  const { SeatbeltWall } = await import("../seatbelt/seatbelt_wall.ts");
  return new SeatbeltWall(options);
}
