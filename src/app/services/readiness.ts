import { access, constants, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { fileFault, messageOf } from "../../domain/errors.ts";
import { isPostgres } from "../../domain/kit/addresses.ts";

const MIN_FREE_BYTES = 64 * 1024 * 1024;
const GOOD_MS = 300_000;
const BAD_MS = 5_000;

interface ReadinessParts {
  readonly database: string;
  readonly trySandbox: () => Promise<void>;
  readonly now: () => number;
  readonly fileFault: () => string | Promise<string>;
  readonly freeBytes?: (path: string) => Promise<number>;
  readonly tryWrite?: (path: string) => Promise<void>;
}

type Readiness = () => Promise<Readonly<Record<"sandbox" | "disk" | "file", string>>>;

export function readiness(
  { database, trySandbox, now, fileFault, freeBytes = freeAt, tryWrite = tryWriting }: ReadinessParts,
): Readiness {
  const isFile = database !== ":memory:" && !isPostgres(database);
  let last: { readonly at: number; readonly fault: Promise<string>; good: boolean } | null = null;
  const sandbox = (): Promise<string> => {
    if (last && now() - last.at < (last.good ? GOOD_MS : BAD_MS)) return last.fault;
    const fault = trySandbox().then(() => "", messageOf);
    const tried = { at: now(), fault, good: true };
    void fault.then((text) => tried.good = text === "");
    last = tried;
    return fault;
  };
  const disk = async (): Promise<string> => {
    if (!isFile) return "";
    try {
      const free = await freeBytes(dirname(database));
      return free < MIN_FREE_BYTES
        ? `the disk has ${Math.floor(free / 1024 / 1024)} MiB free, and Vis needs ${MIN_FREE_BYTES >> 20} MiB`
        : "";
    } catch (error) {
      return messageOf(error);
    }
  };
  const file = async (): Promise<string> => {
    const fault = await fileFault();
    if (fault !== "" || !isFile) return fault;
    return await tryWrite(database).then(() => "", (error) => `Vis cannot write the file: ${codeOf(error)}`);
  };
  return async () => {
    const [ofSandbox, ofDisk, ofFile] = await Promise.all([sandbox(), disk(), file()]);
    return { sandbox: ofSandbox, disk: ofDisk, file: ofFile };
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : messageOf(error);
}

async function tryWriting(path: string): Promise<void> {
  await access(path, constants.W_OK);
  // Closing the database file would drop this process's locks on the database, so this check does not open the file.
  const fault = folderFault(dirname(path));
  if (fault !== "") throw new Error(fault);
}

async function freeAt(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** Returns the reason why Vis cannot write in the folder or the nearest existing folder above it, or "". */
export function folderFault(path: string): string {
  try {
    const folder = nearest(path);
    if (!Deno.statSync(folder).isDirectory) return `${folder} is not a folder`;
    // Permissions do not apply to root and do not show a read-only disk, so Vis makes a folder. Both calls are
    // synchronous, so that no handler of a signal ends the process between them.
    Deno.removeSync(Deno.makeTempDirSync({ dir: folder, prefix: ".vis-doctor-" }));
    return "";
  } catch (error) {
    return fileFault(error);
  }
}

function nearest(path: string): string {
  try {
    Deno.statSync(path);
    return path;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || dirname(path) === path) throw error;
    return nearest(dirname(path));
  }
}
