import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { Pace } from "../../domain/kit/concurrency.ts";
import { isWithin } from "../../domain/kit/files.ts";
import type { ProgramWalls, Spawned, SpawnOptions } from "../../extension/spawn_types.ts";
import { createLog } from "../../logging/log.ts";
import { execPlan, type ExecPolicy } from "../../sandbox/exec/confinement_plan.ts";
import { InitProgram } from "../../sandbox/exec/init_program.ts";
import type { ChildProgram } from "../../sandbox/launch.ts";
import { CommandFolder, makeHome, outsideWorkspace, programEnvironment } from "../_command_folder.ts";
import {
  callPaths,
  deviceNodes,
  type OpenFolders,
  startFolder,
  type WallOptions,
  withoutPrivate,
} from "../_granted_paths.ts";
import { entryKind } from "../_paths.ts";
import { checkCall } from "../_program_run.ts";
import { entryFacts } from "../folder_entries.ts";
import { PROC } from "../proc_files.ts";
import { obeyedIn } from "../protected/git_claims.ts";
import { type Kept, ProtectedPaths } from "../protected/protected_paths.ts";
import { outsideRepository, repositoryFolders } from "../protected/repositories.ts";
import { TURNS } from "../protected/running_commands.ts";
import type { SpecialFiles } from "../protected/workspace_walk.ts";
import { ConfinedProcess, NoNamespaces } from "./confined_process.ts";
import { KnownWall, type Namespaces, NotStarted, PROGRAM_PATH } from "./known_wall.ts";
import { linksOf, settingsPaths } from "./system_paths.ts";

const OPEN_FILES = 4096, FILE_BYTES = 8 * 2 ** 30, CPU_SECONDS = 24 * 3600;
const MORE_PROCESSES = 1024;
const HIDDEN_NAME = ".hidden-by-vis";
const REMOVAL_MS = 600_000;
const MOST_TITLE = 80;

export interface LinuxWallOptions extends WallOptions {
  readonly namespaces?: boolean;
  readonly launcher?: ChildProgram;
}

interface Machine extends OpenFolders {
  readonly program: InitProgram;
  readonly devices: readonly string[];
  readonly links: readonly (readonly [path: string, to: string])[];
}

export class LinuxWall {
  readonly #options: LinuxWallOptions;
  readonly #known: KnownWall;
  readonly #namespaces: Namespaces;
  readonly #protected: ProtectedPaths;
  #machine: Promise<Machine> | null = null;

  constructor(options: LinuxWallOptions, known = new KnownWall(options)) {
    this.#options = options;
    this.#known = known;
    this.#namespaces = known.namespaces;
    this.#protected = new ProtectedPaths(options);
  }

  async spawn(workspace: string, argv: readonly string[], options: SpawnOptions = {}): Promise<Spawned> {
    checkCall(argv, options);
    const { root = workspace, pauses = false } = options;
    for (let faults = 0;;) {
      const begun = pauses ? () => {} : await TURNS.begin(root, options.signal);
      try {
        const run = (found: SpecialFiles | null) => this.#spawn(workspace, argv, options, { found, begun });
        return pauses ? await this.#protected.pausing({ root, workspace }, run) : await run(null);
      } catch (error) {
        // The program with the network may have ended, or the kernel was short of memory, so Vis tries the program once
        // more.
        if (!(error instanceof NoNamespaces)) throw error;
        if (++faults < 2) continue;
        // Another command may have moved folders of this command, so the cause may not be the machine.
        if (await this.#makesNamespaces(options)) throw error;
        this.#namespaces.failed(error.message);
        createLog("commands").warn("namespaces_given_up", { error: error.message });
        if (options.whole) throw error;
      } finally {
        begun();
      }
    }
  }

  async #spawn(
    workspace: string,
    argv: readonly string[],
    options: SpawnOptions,
    { keepsRepositories = true, found: known = null, begun = () => {} }: {
      readonly keepsRepositories?: boolean;
      readonly found?: SpecialFiles | null;
      readonly begun?: () => void;
    },
  ): Promise<Spawned> {
    const { root = workspace, signal, loopback } = options;
    signal?.throwIfAborted();
    const machine = await this.#ready();
    // The launcher could not open a path that is gone or became a link, and the command would not run.
    const readable = machine.read.filter(({ path, folder }) => entryFacts(path)?.isFolder === folder);
    const place = startFolder(workspace, options);
    const own = await ownPaths(workspace, options, machine);
    const outer = await outsideRepository(root);
    const isWhole = this.#namespaces.fault === "";
    if (options.whole && !isWhole) {
      throw new NotStarted(
        `Cannot run commands: ${this.#namespaces.fault}; vis doctor shows how to complete the command wall`,
      );
    }
    const network = options.network ?? this.#options.network
      ? "internet"
      : !isWhole || loopback === undefined
      ? "none"
      : loopback === null
      ? "alone"
      : "private";
    const made = CommandFolder.make({
      root: this.#options.temporary,
      removeLarge: (path) => this.#removeLarge(path),
    });
    const folder = made.path, pace = new Pace(signal);
    let kept: Kept | null = null;
    try {
      const {
        hideSecrets,
        write: named = [],
        keep = [],
        keepsNamed = false,
        title = argv.join(" ").slice(0, MOST_TITLE),
      } = options;
      const found = isWhole && (own.write.length > 0 || hideSecrets) && keepsRepositories
        ? known ?? await this.#protected.look({ root, workspace })
        : null;
      const hidden = await this.#protected.hidden(root, {
        found: hideSecrets ? found : null,
        except: hideSecrets?.except.map((path) => resolve(workspace, path)) ?? [],
        granted: [...readable, ...own.read, ...own.write],
      });
      if (found && own.write.length > 0) {
        kept = await this.#protected.keep({ root, workspace }, {
          ...{ found, write: own.write, named, keepsNamed, title, signal },
          keep: [...keep, ...hidden.links],
        });
      }
      if (hidden.files.length > 0) {
        const { instead = "" } = hideSecrets ?? {};
        await Deno.writeTextFile(join(folder, HIDDEN_NAME), instead ?? "", instead === null ? { mode: 0 } : {});
      }
      await makeHome(folder, { links: machine.packages, home: this.#options.home, root });
      await made.begin();
      const changes = own.write.some(({ path }) => isWithin(path, root));
      const owner = changes || place !== null ? ownerOf(workspace) : null;
      if (owner !== null) await Deno.chown(folder, owner.uid, owner.gid).catch(() => {});
      const policy: ExecPolicy = {
        // Tools look in the folders around their starting folder.
        cwd: place ?? (isWithin(folder, root) ? "/" : folder),
        input: options.input !== undefined,
        read: [...readable, ...own.read, ...outer === null ? [] : [{ path: outer, folder: true }]],
        list: ["/etc"],
        write: [...own.write, { path: folder, folder: true }],
        devices: machine.devices,
        network,
        namespaces: isWhole
          ? {
            ...this.#namespaces.next(network, loopback ?? ""),
            links: machine.links,
            layers: kept?.layers ?? [],
            hidden: { files: hidden.files, as: join(folder, HIDDEN_NAME) },
          }
          : null,
        limits: limits(),
        owner,
      };
      const dots = keepsNamed ? [] : named.filter((path) => basename(path) === ".git");
      const before = await obeyedBy(dots, root);
      const usual = place === null
        ? outsideWorkspace(root, machine, PROGRAM_PATH)
        : { ...machine.env, PATH: machine.path };
      const env = {
        ...programEnvironment(this.#options.env, { folder, language: "C.UTF-8" }),
        ...usual,
        ...options.env,
      };
      await pace.rest(); // The plan for hundreds of repositories can take megabytes.
      const process = await ConfinedProcess.start(execPlan(policy, machine.program), {
        launcher: this.#options.launcher ?? { path: machine.program.path, args: [] },
        ...{ argv, env, cwd: policy.cwd, whole: isWhole, onBegun: begun },
      });
      if (kept !== null) kept.running.pid = process.pid;
      const left = network === "private" ? this.#namespaces.began(loopback ?? "", process.pid) : () => {};
      try {
        const ends = [signal, kept?.running.end.signal].filter((one) => one !== undefined);
        const result = await process.run({ ...options, signal: AbortSignal.any(ends) });
        const obeyed = [...await obeyedBy(dots, root)]
          .flatMap(([what, stamp]) => before.get(what) === stamp ? [] : [what]);
        const repositories = found === null || kept === null ? [] : await this.#made({ root, workspace }, found);
        const discarded = await made.written();
        return {
          ...result,
          ...discarded.length > 0 ? { discarded } : {},
          ...obeyed.length > 0 ? { obeyed } : {},
          ...repositories.length > 0 ? { repositories } : {},
        };
      } finally {
        left();
      }
    } finally {
      await kept?.leave();
      await made.remove();
    }
  }

  async #made(
    place: Readonly<Record<"root" | "workspace", string>>,
    { repositories: before }: SpecialFiles,
  ): Promise<readonly string[]> {
    if (!before.includes("")) return [];
    const isNew = (folder: string): boolean => folder !== "" && !before.includes(folder);
    // A failed search must not hide the result of the command.
    const found = await this.#protected.look(place).catch(() => null);
    return (found?.repositories ?? []).filter(isNew);
  }

  async #makesNamespaces({ network, loopback }: SpawnOptions): Promise<boolean> {
    const made = CommandFolder.make({ root: this.#options.temporary });
    const options = {
      write: [],
      ...network === undefined ? {} : { network },
      ...loopback === undefined ? {} : { loopback: crypto.randomUUID() },
    };
    try {
      await this.#spawn(made.path, ["/bin/true"], options, { keepsRepositories: false });
      return this.#namespaces.fault === "";
    } catch {
      return false;
    } finally {
      await made.remove();
    }
  }

  /** The removal would block this process, so a program behind the wall empties the folder. */
  async #removeLarge(folder: string): Promise<void> {
    await Deno.chmod(folder, 0o700); // A command of root may have closed the folder, and the remover has no privileges.
    const argv = ["/bin/sh", "-c", "chmod -R u+rwX . ; find . -mindepth 1 -delete"];
    await this.#spawn(folder, argv, { timeoutMs: REMOVAL_MS, network: false }, { keepsRepositories: false });
  }

  async walls(): Promise<ProgramWalls> {
    return await this.#known.walls();
  }

  #ready(): Promise<Machine> {
    this.#machine ??= this.#prepare().catch((error: unknown) => {
      this.#machine = null;
      throw error;
    });
    return this.#machine;
  }

  async #prepare(): Promise<Machine> {
    const { home, visHome } = this.#options, open = this.#known.folders();
    const [settings, devices] = await Promise.all([settingsPaths(), deviceNodes()]);
    const links = linksOf([...open.path.split(":"), home ?? "/"]);
    const program = InitProgram.of(visHome ?? tmpdir());
    return { ...open, program, read: [...open.read, ...withoutPrivate(settings, open.folders)], devices, links };
  }
}

/** If `write` names `.git`, the paths include the repository of a worktree, which is elsewhere. The paths omit a `.git`
 * that does not exist yet. */
async function obeyedBy(dots: readonly string[], root: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const top of dots.map((path) => dirname(path))) {
    const place = top === root ? "" : `in ${relative(root, top)}: `;
    for (const [what, stamp] of await obeyedIn(top)) found.set(place + what, stamp);
  }
  return found;
}

async function ownPaths(
  workspace: string,
  { read = [], write = [workspace], root = workspace }: SpawnOptions,
  { folders }: OpenFolders,
) {
  const dot = join(root, ".git");
  const repository = write.includes(dot) ? await repositoryFolders(root) : null;
  const there = [
    ...write.filter((path) => path !== dot || entryKind(path) !== null),
    ...new Set(repository === null ? [] : [repository.gitDir, repository.commonDir]),
  ];
  return callPaths(root, { read, write: there }, folders);
}

/** Without its privileges, root could not change the user's files, and would leave files that the user cannot
 * change. */
function ownerOf(workspace: string): NonNullable<ExecPolicy["owner"]> | null {
  if (Deno.uid() !== 0) return null;
  const { uid, gid } = Deno.statSync(workspace);
  return uid === null || gid === null || uid === 0 ? null : { uid, gid };
}

/** The process limit counts all of the user's processes, so the limit adds to the present number. */
function limits(): ExecPolicy["limits"] {
  return {
    openFiles: OPEN_FILES,
    fileBytes: FILE_BYTES,
    cpuSeconds: CPU_SECONDS,
    processes: PROC.tasks() + MORE_PROCESSES,
  };
}
