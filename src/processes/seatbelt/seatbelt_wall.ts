import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { reasonOf } from "../../domain/errors.ts";
import { isWithin } from "../../domain/kit/files.ts";
import { clip } from "../../domain/kit/text.ts";
import type { ProgramWalls, Spawned, SpawnOptions } from "../../extension/spawn_types.ts";
import type { GrantedPath } from "../../sandbox/confine/access.ts";
import { CommandFolder, makeHome, outsideWorkspace, programEnvironment } from "../_command_folder.ts";
import {
  callPaths,
  deviceNodes,
  type OpenFolders,
  openFolders,
  startFolder,
  type WallOptions,
} from "../_granted_paths.ts";
import { realEntry } from "../_paths.ts";
import { checkCall, runToEnd, writeInput } from "../_program_run.ts";
import { ProtectedPaths } from "../protected/protected_paths.ts";
import { foldersBeside } from "../protected/repositories.ts";
import { removeTree } from "../folder_entries.ts";
import { MAC_PROGRAMS, Probe, probeFault, type ProbePrograms, type ProbeRow } from "./probe.ts";
import { MacProcesses, type ProcessTable, ProcessTree } from "./process_tree.ts";
import { seatbeltArguments, type SeatbeltPolicy, seatbeltProfile, systemRuns } from "./profile.ts";

const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
const PROBE_MS = 20_000;
const MOST_PROCESSES = 512;
const PATH = "/usr/bin:/bin:/usr/sbin:/sbin";
/** The link leads to the folder with Apple's compilers and git; the second path is its default target. */
const DEVELOPER = ["/var/db/xcode_select_link", "/Library/Developer/CommandLineTools"];
/** The script reports the start of the program, and then limits core files, open files, processor time and file sizes
 * (in blocks of 512 bytes). */
const START =
  'printf "%s begun\\n" "$0" >&2; for limit in "-c 0" "-n 4096" "-f 16777216" "-t 86400"; do ulimit $limit 2>/dev/null; done; exec "$@"';

export interface SeatbeltWallOptions extends WallOptions {
  readonly system?: Partial<SeatbeltSystem>;
}

interface SeatbeltSystem {
  readonly sandboxExec: string;
  readonly processes: ProcessTable;
  readonly developer: readonly string[];
  readonly probe: ProbePrograms;
}

export interface SeatbeltWalls extends ProgramWalls {
  readonly probe: readonly ProbeRow[];
}

interface Probed {
  readonly reason: string;
  readonly rows: readonly ProbeRow[];
}

/** Vis uses a Seatbelt profile only after a probe. If an attempt of the probe has another outcome than `wanted`, the
 * wall refuses all programs. */
export class SeatbeltWall {
  readonly #options: SeatbeltWallOptions;
  readonly #protected: ProtectedPaths;
  #table: ProcessTable | null;
  #open: OpenFolders | null = null;
  #probed: Promise<Probed> | null = null;

  constructor(options: SeatbeltWallOptions) {
    this.#options = options;
    this.#protected = new ProtectedPaths(options);
    this.#table = options.system?.processes ?? null;
  }

  async spawn(workspace: string, argv: readonly string[], options: SpawnOptions = {}): Promise<Spawned> {
    checkCall(argv, options);
    options.signal?.throwIfAborted();
    this.#folders();
    const { reason } = await this.#probe();
    if (reason !== "") {
      throw new Error(`Cannot run commands: ${reason}; vis doctor shows how to complete the command wall`);
    }
    return await this.#run(workspace, argv, options);
  }

  async walls(): Promise<SeatbeltWalls> {
    const { leftOut } = this.#folders();
    const { reason, rows } = await this.#probe();
    const { network } = this.#options;
    return { network, loopback: false, unix: true, hides: true, leftOut, whole: reason === "", reason, probe: rows };
  }

  async #run(
    workspace: string,
    argv: readonly string[],
    options: SpawnOptions & { readonly hidden?: readonly string[] },
  ): Promise<Spawned> {
    const { root = workspace, hideSecrets } = options;
    const network = options.network ?? this.#options.network;
    const open = this.#folders();
    const place = startFolder(workspace, options);
    const { read = [], write = [workspace] } = options;
    const own = callPaths(root, { read, write }, open.folders);
    const made = CommandFolder.make({ root: this.#options.temporary });
    const folder = made.path;
    try {
      const cwd = place ?? folder;
      const usual = place === null ? outsideWorkspace(root, open, PATH) : { ...open.env, PATH: open.path };
      const variables: Readonly<Record<string, string>> = {
        ...programEnvironment(this.#options.env, { folder, language: "en_US.UTF-8" }),
        ...usual,
        ...options.env,
      };
      const program = await programPath(argv[0] ?? "", { path: variables["PATH"] ?? "", cwd });
      await makeHome(folder, { links: open.packages, home: this.#options.home, root });
      await made.begin();
      const readable = [...open.read, ...own.read];
      const hidden = await this.#protected.hidden(root, {
        found: hideSecrets ? await this.#protected.look({ root, workspace }) : null,
        except: hideSecrets?.except.map((path) => resolve(workspace, path)) ?? [],
        granted: [...readable, ...own.write],
      });
      const policy: SeatbeltPolicy = {
        read: readable,
        write: [...own.write, { path: folder, folder: true }],
        ...await this.#kept([root, workspace, ...foldersBeside(root, own.write)], {
          write: own.write,
          keep: options.keep ?? [],
        }),
        hidden: options.hidden ?? [...hidden.files.map(({ path }) => path), ...hidden.links],
        devices: await deviceNodes(),
        network,
      };
      const result = await runProgram([program, ...argv.slice(1)], {
        name: argv[0] ?? "",
        confine: [this.#options.system?.sandboxExec ?? SANDBOX_EXEC, ...seatbeltArguments(seatbeltProfile(policy))],
        table: this.#table ??= new MacProcesses(),
        ...{ cwd, env: variables, options },
      });
      const discarded = await made.written();
      return { ...result, ...discarded.length > 0 ? { discarded } : {} };
    } finally {
      await made.remove();
    }
  }

  /** The user approved a path that the call names for writing, so the program may change that path even inside a kept
   * path, except a path in `keep`. */
  async #kept(
    folders: readonly string[],
    { write, keep }: { readonly write: readonly GrantedPath[]; readonly keep: readonly string[] },
  ): Promise<Pick<SeatbeltPolicy, "kept" | "opened">> {
    const more = await Promise.all([...new Set(folders)].map((folder) => this.#protected.find(folder)));
    const own = [...new Set([...folders.flatMap((one) => [join(one, ".git"), join(one, ".vis")]), ...more.flat()])];
    const kept = own.filter((path) => !write.some((one) => one.path === path));
    return {
      kept: [...kept, ...keep],
      opened: write.filter(({ path }) =>
        kept.some((one) => isWithin(path, one)) && !keep.some((one) => isWithin(path, one))
      ),
    };
  }

  #folders(): OpenFolders {
    if (this.#open !== null) return this.#open;
    const { read, path, env } = developerTools(this.#options.system?.developer ?? DEVELOPER);
    return this.#open = openFolders(this.#options, {
      read,
      first: path,
      variables: env,
      runs: systemRuns,
      usual: PATH,
    });
  }

  #probe(): Promise<Probed> {
    return this.#probed ??= this.#try().catch((error: unknown) => {
      const why = error instanceof NotRun ? error.why : reasonOf(error);
      return { reason: `the trial of the command wall did not run (${why})`, rows: [] };
    });
  }

  async #try(): Promise<Probed> {
    const root = await Deno.realPath(
      await Deno.makeTempDir({ dir: this.#options.temporary ?? tmpdir(), prefix: "vis-probe-" }),
    );
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    let connections = 0;
    const accepted = (async () => {
      for await (const connection of listener) {
        connections++;
        connection.close();
      }
    })();
    const workspace = join(root, "workspace"), hidden = join(workspace, "keys.env"), secret = crypto.randomUUID();
    const secretFile = join(await this.#ownFolder() ?? root, `.wall-probe-${crypto.randomUUID()}`);
    try {
      await Deno.mkdir(join(workspace, ".git"), { recursive: true });
      await Deno.writeTextFile(join(workspace, ".git/config"), "[core]\n\tbare = false\n");
      for (const path of [hidden, secretFile]) await Deno.writeTextFile(path, secret, { mode: 0o600 });
      const place = { workspace, beside: root, secretFile, secret, hidden, port: listener.addr.port };
      const programs = this.#options.system?.probe ?? MAC_PROGRAMS;
      const probe = new Probe(place, programs, { connected: () => connections > 0 });
      const { stdout } = await this.#run(workspace, probe.argv, {
        hidden: [hidden],
        network: false,
        timeoutMs: PROBE_MS,
      });
      const rows = probe.rows(stdout);
      const fault = probeFault(rows);
      return { reason: fault === "" ? "" : `the command wall of this machine is incomplete, because ${fault}`, rows };
    } finally {
      listener.close();
      await accepted.catch(() => {});
      await Deno.remove(secretFile).catch(() => {});
      await removeTree(root).catch(() => {});
    }
  }

  async #ownFolder(): Promise<string | null> {
    const { visHome } = this.#folders().folders;
    if (visHome === null) return null;
    const probe = join(visHome, `.wall-probe-${crypto.randomUUID()}`);
    return await Deno.writeTextFile(probe, "", { createNew: true })
      .then(async () => await Deno.remove(probe)).then(() => visHome, () => null);
  }
}

interface SeatbeltRun {
  readonly name: string;
  readonly confine: readonly string[];
  readonly table: ProcessTable;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly options: SpawnOptions;
}

async function runProgram(
  argv: readonly string[],
  { name, confine: [confine = "", ...args], table, cwd, env, options }: SeatbeltRun,
): Promise<Spawned> {
  const { input, stop } = options;
  const token = crypto.randomUUID();
  const process = new Deno.Command(confine, {
    args: [...args, "/bin/sh", "-c", START, token, ...argv],
    cwd,
    clearEnv: true,
    env: { ...env },
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
  const tree = new ProcessTree(process.pid, table);
  let hasBegun = false, left = 0;
  const running = runToEnd(process, options, {
    lines: { token, hear: () => void (hasBegun = true) },
    kill: () => void tree.kill(),
    askToEnd: () => tree.askToEnd(),
    fault: () =>
      tree.look().length >= MOST_PROCESSES ? `Ended: ${name} had ${MOST_PROCESSES} processes, the limit` : null,
    ended: async () => void (left = await tree.ended()),
  });
  if (input !== undefined) void writeInput(process.stdin, input);
  const { status, notes, ...run } = await running;
  const isExpected = run.timedOut || stop?.aborted === true;
  if (left > 0 && !isExpected) notes.push("Vis ended processes that were left running");
  if (!hasBegun && !isExpected) {
    const why = clip(run.stderr.trim(), 1000);
    throw new NotRun(name, why || `sandbox-exec ended with ${status.signal ?? `exit code ${status.code}`}`);
  }
  return { code: status.code, signal: status.signal, ...run, notes };
}

/** The search skips relative folders of PATH, and otherwise finds a program as a shell does. */
async function programPath(name: string, { path, cwd }: { readonly path: string; readonly cwd: string }) {
  const places = name.includes("/") ? [resolve(cwd, name)] : path.split(delimiter).map((folder) => join(folder, name));
  let isThere = false;
  for (const place of places.filter(isAbsolute)) {
    const info = await Deno.stat(place).catch(() => null);
    if (info === null) continue;
    isThere = true;
    if (info.isFile && ((info.mode ?? 0) & 0o111) !== 0) return place;
  }
  throw new NotRun(name, isThere ? "it is not an executable file" : "the program does not exist");
}

class NotRun extends Error {
  constructor(name: string, readonly why: string) {
    super(`Cannot run ${name}: ${why}`);
  }
}

/** Apple's programs in /usr/bin, such as git, look for the real tools in folders and through services that the wall
 * closes. The folders of the tools therefore come first in PATH. */
function developerTools(links: readonly string[]): Pick<OpenFolders, "read" | "env"> & { readonly path: string[] } {
  const folder = links.map(realEntry).find((found) => found?.folder)?.path;
  if (folder === undefined) return { read: [], path: [], env: {} };
  const isXcode = folder.endsWith("/Contents/Developer");
  const first = (names: readonly string[]): string[] =>
    names.map((name) => join(folder, name)).filter((path) => realEntry(path)?.folder).slice(0, 1);
  const [sdk] = first(["SDKs/MacOSX.sdk", "Platforms/MacOSX.platform/Developer/SDKs/MacOSX.sdk"]);
  return {
    read: [{ path: isXcode ? resolve(folder, "..") : folder, folder: true }],
    path: [...first(["usr/bin"]), ...first(["Toolchains/XcodeDefault.xctoolchain/usr/bin"])],
    env: { DEVELOPER_DIR: folder, ...(sdk === undefined ? {} : { SDKROOT: sdk }) },
  };
}
