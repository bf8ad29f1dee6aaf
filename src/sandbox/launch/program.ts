import { fileURLToPath } from "node:url";
import type { ChildAccess } from "../child/setup.ts";
import { CHILD_ARGUMENT, type ChildProgram } from "./start_child.ts";

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

interface ChildProgramOptions {
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
