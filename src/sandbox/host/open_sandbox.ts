/* The sandbox as the main process sees it. `sandbox.ts` above says what one can do; this file opens one.
 *
 *   _confined_sandbox.ts   one child and the requests to it; `_active_run.ts` the block that runs: output, deadline, end
 *   _child_link.ts         its process: frames, answers that are due, pings, and how it ended
 *   _call_registry.ts      host calls: checked, limited, answered once each
 *   _child_answers.ts      reads what a child sends, of which nothing is trusted
 *   probe_walls.ts         tests each wall alone, for `vis doctor`
 *   ../launch/             how a child is started: its program, the first child, its folder
 *   ../codec/              values as bytes; `../protocol.ts` frames of bytes; `../modules/` modules of extensions
 *   ../child/              the child; `child/main.ts` is where it begins */

import { SandboxEnded } from "../../domain/errors.ts";
import { parseNetGrant, REALM_GLOBALS } from "../../domain/grants.ts";
import { Semaphore } from "../../domain/kit/concurrency.ts";
import { ALL_WALLS, type ChildAccess, type Setup, type WallSwitches } from "../child/setup.ts";
import type { GrantedPath } from "../confine/access.ts";
import { childProgram, launched } from "../launch/program.ts";
import {
  type ChildProgram,
  endFirstChild,
  type FirstChild,
  startChild,
  takeFirstChild,
} from "../launch/start_child.ts";
import { WorkFolder } from "../launch/work_folder.ts";
import { PROTOCOL_VERSION } from "../protocol.ts";
import type { Sandbox, SandboxOptions } from "../sandbox.ts";
import { ConfinedSandbox, type ConfinedSandboxOptions } from "./_confined_sandbox.ts";
import { isAbsolute, join } from "node:path";

/** Only for tests and the probe of `vis doctor`, which show what each wall blocks alone. */
export interface SandboxTestOptions {
  readonly walls?: Partial<WallSwitches>;
  /** Where the child's working folder is created; by default the temporary folder. */
  readonly folderRoot?: string;
  /** A program to run instead of the child, for example one that lies. */
  readonly program?: ChildProgram;
  /** How long a child may take to start; for a machine that is emulated. */
  readonly startMs?: number;
}

/** Starting a child keeps a processor busy: starting more at once than there are cores only delays all of them. */
const slots = new Semaphore(navigator.hardwareConcurrency, () => new SandboxEnded("the caller gave it up"));

/** Starts one confined child and waits until its walls are in place. The caller owns it and must `close` it. Rejects
 * with SandboxEnded if it does not start, and with Error if its bundles are missing or a grant is impossible. Walls
 * that this platform lacks are reported in `walls`, never skipped silently. */
export function openSandbox(options: SandboxOptions, test: SandboxTestOptions = {}): Promise<Sandbox> {
  return slots.run(async () => {
    const walls: WallSwitches = { ...ALL_WALLS, ...test.walls };
    const { limits: { memoryBytes, outputBytes, previewChars }, launcher = [] } = options;
    const access = resolveGrants(options);
    if (launcher.length > 0 && access.read.length + access.write.length > 0) {
      throw new Error(`Cannot grant paths to a sandbox behind a launcher: ${launcher.join(" ")}`);
    }
    const setup: Setup = {
      version: PROTOCOL_VERSION,
      walls,
      parentPid: launcher.length > 0 ? 0 : Deno.pid,
      memoryBytes,
      outputBytes,
      previewChars,
      functions: options.functions,
      untimed: options.untimed ?? [],
      access,
    };
    const own = test.program ?? childProgram({ memoryBytes, allPermissions: !walls.permissions, access });
    const swept = WorkFolder.sweep(test.folderRoot);
    const child = launcher.length > 0 || test.program ? null : takeFirstChild();
    if (child === null) endFirstChild();
    const sandbox = new ConfinedSandbox({
      sandbox: options,
      setup,
      ...test.startMs === undefined ? {} : { startMs: test.startMs },
      ...child ? adopted(child) : started(launched(own, launcher), test.folderRoot),
    });
    await sandbox.start();
    await swept;
    return sandbox;
  }, options.signal);
}

type Started = Pick<ConfinedSandboxOptions, "process" | "folder">;

function adopted({ process, folder }: FirstChild): Started {
  return { process, folder: new WorkFolder({ made: folder }) };
}

function started(program: ChildProgram, root: string | undefined): Started {
  const folder = new WorkFolder({ root });
  try {
    return { process: startChild(program, folder.path), folder };
  } catch (error) {
    folder.remove(); // a missing program throws immediately, while the folder has no owner yet
    throw error;
  }
}

type GrantOptions = Pick<SandboxOptions, "grants" | "globals" | "workspace" | "environment">;

/** These show other processes and the machine itself. */
const MACHINE = ["/proc", "/sys", "/dev"];
const KINDS = new Set(Object.values<string>(REALM_GLOBALS));
const VARIABLE = /^[A-Za-z_]\w*$/;

/** Grants in the form that every wall takes: addresses parsed, paths absolute and real. Throws for a grant that is not
 * possible exactly as requested; it is never widened. */
function resolveGrants({ grants, globals = [], workspace = "", environment = {} }: GrantOptions): ChildAccess {
  for (const [kind, names] of Object.entries(grants)) {
    if (!KINDS.has(kind) && names.length > 0) {
      throw new Error(`Cannot grant ${kind} to the sandbox: ${names.join(", ")}`);
    }
  }
  for (const name of globals) {
    const kind = Object.hasOwn(REALM_GLOBALS, name) ? REALM_GLOBALS[name] : undefined;
    if (!kind) throw new Error(`Cannot give the sandbox a global: ${name}`);
    if (grants[kind].length === 0) throw new Error(`Cannot give the sandbox ${name}: nothing is granted for ${kind}`);
  }
  const net = grants.net.map(parseNetGrant);
  return {
    net: net.map(({ host, port }) => host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`),
    ports: [...new Set(net.map(({ port }) => port))],
    read: grants.read.map((path) => realPath("read", { path, workspace })),
    write: grants.write.map((path) => realPath("write", { path, workspace })),
    env: grants.env.map((name) => {
      if (!VARIABLE.test(name)) throw new Error(`Cannot grant env to the sandbox: ${name}`);
      return { name, value: (Object.hasOwn(environment, name) ? environment[name] : null) ?? null };
    }),
    globals: [...globals],
    workspace,
  };
}

function realPath(
  kind: "read" | "write",
  { path, workspace }: { readonly path: string; readonly workspace: string },
): GrantedPath {
  const refuse = (why: string): never => {
    throw new Error(`Cannot grant ${kind} to the sandbox: ${path} ${why}`);
  };
  if (path === "" || (!isAbsolute(path) && workspace === "")) refuse("is not absolute, and there is no workspace");
  try {
    const real = Deno.realPathSync(isAbsolute(path) ? path : join(workspace, path));
    const over = (a: string, b: string): boolean => b === a || b.startsWith(a === "/" ? a : `${a}/`);
    if (MACHINE.some((folder) => over(real, folder) || over(folder, real))) {
      refuse("contains or is part of /proc, /sys or /dev");
    }
    const { isFile, isDirectory } = Deno.statSync(real);
    if (!isFile && !isDirectory) refuse("is neither a file nor a folder");
    return { path: real, folder: isDirectory };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) refuse("does not exist");
    throw error;
  }
}
