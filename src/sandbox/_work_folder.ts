import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { ConfigError } from "../domain/errors.ts";
import { fileFault } from "../domain/file_fault.ts";

const NAME = /^vis-sandbox-(\d+)-/;
/** A folder of a process that is just starting must not be taken for a leftover. */
const LEFTOVER_MS = 60_000;

/** An empty folder for one child, readable by its owner only. `root` is the temporary folder unless a test says other.
 * Throws `ConfigError` where none can be made. */
export function makeWorkFolder(root: string = temporaryFolder()): string {
  sweep(root);
  return newWorkFolder(root);
}

/** The same without looking for what others left behind. */
export function newWorkFolder(root: string = temporaryFolder()): string {
  try {
    return Deno.makeTempDirSync({ dir: root, prefix: `vis-sandbox-${Deno.pid}-` });
  } catch (error) {
    throw new ConfigError(
      `Cannot make a folder for the sandbox in ${root}: ${fileFault(error)}; set TMPDIR to a folder that Vis may write`,
      { cause: error },
    );
  }
}

/** A relative TMPDIR counts from where the program runs. */
function temporaryFolder(): string {
  return resolve(tmpdir());
}

/** Removes a folder; one that is gone already, or cannot go, is not the caller's concern. */
export function removeWorkFolder(folder: string): void {
  try {
    Deno.removeSync(folder, { recursive: true });
  } catch { /* nothing waits for it; the next start sweeps it */ }
}

/** Folders whose main process was killed before it could remove them. */
function sweep(root: string): void {
  try {
    for (const { name, isDirectory } of Deno.readDirSync(root)) {
      const pid = Number(NAME.exec(name)?.[1]);
      if (isDirectory && pid > 0 && pid !== Deno.pid && isLeftover(join(root, name), pid)) {
        removeWorkFolder(join(root, name));
      }
    }
  } catch { /* a folder that cannot be listed has nothing of ours that we could remove */ }
}

function isLeftover(folder: string, pid: number): boolean {
  try {
    const { mtime, uid } = Deno.lstatSync(folder);
    const old = mtime !== null && Date.now() - mtime.getTime() > LEFTOVER_MS;
    return old && uid === Deno.uid() && !isAlive(pid);
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
