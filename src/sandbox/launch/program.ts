import { fileURLToPath } from "node:url";
import { parseNetGrant, REALM_GLOBALS } from "../../domain/grants.ts";
import type { ChildAccess } from "../child/setup.ts";
import type { GrantedPath } from "../confine/access.ts";
import type { SandboxOptions } from "../sandbox.ts";
import { CHILD_ARGUMENT, type ChildProgram } from "./start_child.ts";
import { isAbsolute, join } from "node:path";

/** No compilation cache: it would hold every block forever and never match, as each has its own file name. A young heap
 * of 2 MB, as in the main process. */
export const CHILD_V8_FLAGS: readonly string[] = [
  "--disallow-code-generation-from-strings",
  "--no-compilation-cache",
  "--max-semi-space-size=2",
];
/** The garbage collector gives up well below the memory limit: near the limit it would thrash for seconds first. */
const HEAP_SHARE = 0.75;
const MIB = 1 << 20;
/** build/sandbox/, relative to src/sandbox/ and to a bundle of the program in build/compile/. */
const FOLDERS = ["../../../build/sandbox/", "../sandbox/"];

export interface ChildProgramOptions {
  readonly memoryBytes: number;
  /** Only for tests of other walls: the child keeps all Deno permissions. */
  readonly allPermissions: boolean;
  /** The child needs every permission that it passes to a worker. */
  readonly access?: ChildAccess;
}

/** The same child behind a launcher that passes stdio through; the child itself if there is no launcher. */
export function launched(program: ChildProgram, [path, ...args]: readonly string[]): ChildProgram {
  return path === undefined ? program : { ...program, path, args: [...args, program.path, ...program.args] };
}

/** How the child is started. Throws if its bundles have not been built. */
export function childProgram({ memoryBytes, allPermissions, access }: ChildProgramOptions): ChildProgram {
  const path = Deno.execPath();
  if (Deno.build.standalone) return { path, args: [CHILD_ARGUMENT] };
  const folder = bundleFolder();
  const heap = Math.max(64, Math.floor(memoryBytes / MIB * HEAP_SHARE));
  const permissions = allPermissions ? ["--allow-all"] : permissionFlags(folder, access);
  return {
    path,
    args: [
      "run",
      "--quiet",
      // Without these three, an import() of npm or http ignores all permissions and contacts the registry.
      "--no-npm",
      "--no-remote",
      "--cached-only",
      "--no-config",
      "--no-lock",
      "--no-prompt",
      "--no-check",
      "--unstable-worker-options",
      ...permissions,
      `--v8-flags=${[...CHILD_V8_FLAGS, `--max-old-space-size=${heap}`].join(",")}`,
      `${folder}child.js`,
    ],
  };
}

function permissionFlags(folder: string, access: ChildAccess | undefined): string[] {
  const { net = [], read = [], write = [] } = access ?? {};
  const flag = (kind: string, values: readonly string[]): string[] =>
    values.length > 0 ? [`--allow-${kind}=${values.map((value) => value.replaceAll(",", ",,")).join(",")}`] : [];
  return [
    ...flag("read", [folder, ...read.map(({ path }) => path)]),
    ...flag("write", write.map(({ path }) => path)),
    ...flag("net", net),
    "--allow-ffi",
  ];
}

function bundleFolder(): string {
  const folders = FOLDERS.map((folder) => fileURLToPath(new URL(folder, import.meta.url)));
  for (const folder of folders) {
    if (isFile(`${folder}child.js`) && isFile(`${folder}worker.js`)) return folder;
  }
  throw new Error(`Cannot start the sandbox: ${folders[0]}child.js is missing; run bin/deno task build`);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

type GrantOptions = Pick<SandboxOptions, "grants" | "globals" | "workspace" | "environment">;

/** These show other processes and the machine itself. */
const MACHINE = ["/proc", "/sys", "/dev"];
const KINDS = new Set(Object.values<string>(REALM_GLOBALS));
const VARIABLE = /^[A-Za-z_]\w*$/;

/** Grants in the form that every wall takes: addresses parsed, paths absolute and real. Throws for a grant that is not
 * possible exactly as requested; it is never widened. */
export function resolveGrants({ grants, globals = [], workspace = "", environment = {} }: GrantOptions): ChildAccess {
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
