import { intrinsics } from "../codec/intrinsics.ts";
import { type ConfinedWalls, Confinement } from "../confine/confinement.ts";
import { readFrameSync } from "../protocol.ts";
import { type ChildScripts, type ChildStart, loadBlocks, type ScriptSource, type WorkerStart } from "./scripts.ts";
import { readSetup, workerPermissions } from "./setup.ts";

const PERMISSIONS = ["run", "read", "write", "net", "env", "sys", "ffi", "import"] as const;

interface ChildFiles {
  readonly read: (name: string) => Uint8Array<ArrayBuffer>;
  readonly close: () => void;
}

const beside = (name: string): URL => new URL(`./${name}`, import.meta.url);
const BESIDE: ChildFiles = { read: (name) => Deno.readFileSync(beside(name)), close: () => {} };

function scriptOf(name: string, files: ChildFiles): ScriptSource {
  return { text: new TextDecoder().decode(files.read(`${name}.js`)), cache: cacheOf(name, files) };
}

function cacheOf(name: string, files: ChildFiles): Uint8Array<ArrayBuffer> | null {
  try {
    return files.read(`${name}.cache`);
  } catch {
    return null; // The build could not create a cache for this platform.
  }
}

export function childMain(files: ChildFiles = BESIDE): void {
  try {
    confinedChild(files);
  } catch (error) {
    endProcess(error instanceof Error ? error.message : String(error));
  }
}

function confinedChild(files: ChildFiles): void {
  const scripts: ChildScripts = {
    blocks: scriptOf("blocks", files),
    compiler: scriptOf("compiler", files),
    sucrase: scriptOf("sucrase", files),
  };
  files.close();
  const { setup, constants } = readSetup(readFrameSync((into) => Deno.stdin.readSync(into)));
  const { walls: { limits, landlock, seccomp, permissions }, parentPid, memoryBytes, access } = setup;
  const granted = workerPermissions(access);
  const url = granted ? workerUrl() : "";
  const confinement = new Confinement({ parentPid, memoryBytes, access, limits, landlock, seccomp });
  confinement.begin();
  const finish = (): ConfinedWalls => {
    const held = confinement.finish();
    if (permissions) { for (const name of PERMISSIONS) Deno.permissions.revokeSync({ name }); }
    return held;
  };
  if (granted) {
    return inWorker({ setup, constants, scripts }, { url, permissions: permissions ? granted : "inherit", finish });
  }
  const importer: ChildStart["import"] = (specifier, options) => import(specifier, options);
  const begin = loadBlocks({ setup, constants, scripts, end: endProcess, import: importer }, import.meta.url);
  begin(finish());
}

/** From source, this function reads the file before Landlock applies, and returns the URL of a blob. An executable
 * cannot load a blob as a worker, but it can load the embedded file. */
function workerUrl(): string {
  if (Deno.build.standalone) return beside("worker.js").href;
  const text = Deno.readTextFileSync(beside("worker.js"));
  return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
}

/** Blocks with grants for paths or addresses run in a worker, because Deno can narrow the permissions of a worker. */
function inWorker(
  start: WorkerStart,
  { url, permissions, finish }: {
    readonly url: string;
    readonly permissions: Deno.PermissionOptionsObject | "inherit";
    readonly finish: () => ConfinedWalls;
  },
): void {
  const worker = new Worker(url, { type: "module", deno: { permissions } });
  worker.onerror = (event) => {
    event.preventDefault();
    endProcess(`worker: ${event.message}`);
  };
  worker.onmessage = () => {
    worker.onmessage = ({ data: why }: MessageEvent<string | null>) => endProcess(why);
    try {
      worker.postMessage(finish());
    } catch (error) {
      endProcess(error instanceof Error ? error.message : String(error));
    }
  };
  worker.postMessage(start);
}

const MAX_CHARS = 500;
const BytesOf = Uint8Array;
const { exit } = Deno, writeSync = Deno.stderr.writeSync.bind(Deno.stderr);
/** Without this mark, the runtime would dispatch an event in a global that the realm has emptied. */
const DISPATCHED = Symbol.for("Deno.isUnloadDispatched");
const { viewBuffer, defineProperty, encodeInto, slice } = intrinsics;

export function endProcess(why: string | null): never {
  try {
    if (why !== null) writeFault(why);
  } catch { /* The main process is gone. */ }
  defineProperty(globalThis, DISPATCHED, { value: true });
  return exit(why === null ? 0 : 1);
}

function writeFault(why: string): void {
  const bytes = new BytesOf(3 * MAX_CHARS + 1);
  const { written } = encodeInto(`${slice(why, 0, MAX_CHARS)}\n`, bytes);
  writeSync(new BytesOf(viewBuffer(bytes) as ArrayBuffer, 0, written));
}

if (import.meta.main) childMain();
