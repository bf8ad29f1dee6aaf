/** Entry point and main thread of the sandbox child: confines the process, starts the worker, relays frames. */
import { Confinement } from "../confine/confinement.ts";
import { FrameReader, PROTOCOL_VERSION, readFrameSync } from "../protocol.ts";
import { fail } from "./relay/fail.ts";
import { FrameWriter } from "./relay/frame_writer.ts";
import { workerPermissions } from "./setup/child_access.ts";
import type { FromWorker, WorkerStart } from "./link/messages.ts";
import { loadRelay } from "./relay/loader.ts";
import type { Relay } from "./relay/relay.ts";
import type { ScriptSource } from "./setup/script_value.ts";
import { readSetup } from "./setup/setup.ts";
import { sucraseLoader } from "./prepare/sucrase_loader.ts";

const READ_BYTES = 256 << 10;
const PERMISSIONS = ["run", "read", "write", "net", "env", "sys", "ffi", "import"] as const;

/** Where the child reads its files, and what it does once it has read them. */
export interface ChildFiles {
  readonly read: (name: string) => Uint8Array<ArrayBuffer>;
  readonly close: () => void;
}

/** Files beside this one, however it was started: in build/sandbox/ or inside the executable. */
const beside = (name: string): URL => new URL(`./${name}`, import.meta.url);
const BESIDE: ChildFiles = { read: (name) => Deno.readFileSync(beside(name)), close: () => {} };

/** From source, the worker's file cannot be read once Landlock is in place, so its text is read earlier and started as
 * a blob. Inside an executable, blob workers do not load, but the embedded file does. Both need it in one file. */
function workerUrl(): string {
  if (Deno.build.standalone) return beside("worker.js").href;
  const text = Deno.readTextFileSync(beside("worker.js"));
  return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
}

/** A bundle that is evaluated as a script, with the code cache that is beside it. */
function scriptOf(name: string, files: ChildFiles): ScriptSource {
  return { text: new TextDecoder().decode(files.read(`${name}.js`)), cache: cacheOf(name, files) };
}

function cacheOf(name: string, files: ChildFiles): Uint8Array<ArrayBuffer> | null {
  try {
    return files.read(`${name}.cache`);
  } catch {
    return null; // built for another platform, on which the cache could not be created
  }
}

function startWorker(url: string, permissions: "none" | "inherit" | Deno.PermissionOptionsObject): Worker {
  return new Worker(url, { type: "module", deno: { permissions } });
}

/** Never returns. Failures are reported on stderr, in a sentence that the main process reads. */
export async function childMain(files: ChildFiles = BESIDE): Promise<void> {
  try {
    await confinedChild(files);
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
}

/** Reads its files and the setup, which may come later; confines, serves until stdin ends. */
async function confinedChild(files: ChildFiles): Promise<void> {
  const url = workerUrl();
  const loadSucrase = sucraseLoader(scriptOf("sucrase", files));
  const relayScript = scriptOf("relay", files), workerScript = scriptOf("worker_script", files);
  files.close();
  const first = readFrameSync((into) => Deno.stdin.readSync(into));
  const { setup, constants } = readSetup(first);
  const { walls: { limits, landlock, seccomp }, parentPid, memoryBytes, access } = setup;
  const confinement = new Confinement({ parentPid, memoryBytes, access, limits, landlock, seccomp });
  confinement.beforeWorker();

  const worker = startWorker(url, setup.walls.permissions ? workerPermissions(access) : "inherit");
  const writer = new FrameWriter(first.token);
  const { port1, port2 } = new MessageChannel();
  const { functions, untimed, outputBytes, previewChars } = setup;
  const shared = { functions, untimed, constants, outputBytes, previewChars, access };
  // Waits in the worker's queue until the worker's own code has run: asking first would cost a turn of both threads.
  const given = { ...shared, emptyRealm: setup.walls.realm, port: port2 };
  worker.postMessage({ script: workerScript, setup: given } satisfies WorkerStart, [port2]);
  const relay = loadRelay(relayScript, { setup, writer, port: port1, loadSucrase });
  worker.onerror = (event) => {
    event.preventDefault();
    fail(`worker: ${event.message}`);
  };
  relay.onUp = (up: Extract<FromWorker, { t: "up" }>) => {
    const held = orFail(() => confinement.afterWorker());
    for (const name of PERMISSIONS) Deno.permissions.revokeSync({ name });
    writer.send({
      t: "ready",
      version: PROTOCOL_VERSION,
      walls: {
        realm: setup.walls.realm && up.left.length === 0,
        permissions: setup.walls.permissions,
        process: held.process,
        kernel: { landlock: held.landlock, seccomp: held.seccomp },
        failed: [...held.failed, ...up.left.map((name) => `realm: ${name} is left`)],
      },
    });
  };
  await serve(new FrameReader(first.token), relay);
}

/** Passes on frames from the main process until its input ends, then ends the child. */
async function serve(reader: FrameReader, relay: Relay): Promise<never> {
  const buffer = new Uint8Array(READ_BYTES);
  for (let got = await Deno.stdin.read(buffer); got !== null; got = await Deno.stdin.read(buffer)) {
    reader.push(buffer.subarray(0, got), (frame) => relay.receive(frame));
    relay.link.forward();
  }
  Deno.exit(0);
}

function orFail<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
}

if (import.meta.main) await childMain();
