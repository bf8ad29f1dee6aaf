import { messageOf } from "../../domain/kit/message_of.ts";
import { access, constants, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { folderFault } from "../settings/folder_fault.ts";

/** Below this a query could not store what it does. */
const MIN_FREE_BYTES = 64 * 1024 * 1024;
const GOOD_MS = 300_000;
const BAD_MS = 5_000;

export interface ReadinessParts {
  /** A path or ":memory:". */
  readonly database: string;
  /** Starts a sandbox with the walls that are required, and ends it. Rejects where that does not work. */
  readonly trySandbox: () => Promise<void>;
  readonly now: () => number;
  /** What happened to the files of the open database, "" where they are as they were. */
  readonly fileFault: () => string;
  /** Bytes that are free where a file is; others in tests. */
  readonly freeBytes?: (path: string) => Promise<number>;
  /** Rejects where a file cannot be written; others in tests. */
  readonly tryWrite?: (path: string) => Promise<void>;
}

/** What a query needs, by name: what is wrong with it, "" where nothing is. */
export type Readiness = () => Promise<Readonly<Record<"sandbox" | "disk" | "file", string>>>;

/** Whether this machine can run queries now. A sandbox is tried at most once in five minutes while it works, and once in
 * five seconds while it does not; many who ask at once wait for the same one. */
export function readiness(
  { database, trySandbox, now, fileFault, freeBytes = freeAt, tryWrite = tryWriting }: ReadinessParts,
): Readiness {
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
    if (database === ":memory:") return "";
    try {
      const free = await freeBytes(dirname(database));
      return free < MIN_FREE_BYTES
        ? `${Math.floor(free / 1024 / 1024)} MiB are free, ${MIN_FREE_BYTES >> 20} are needed`
        : "";
    } catch (error) {
      return messageOf(error);
    }
  };
  const file = async (): Promise<string> => {
    const fault = fileFault();
    if (fault !== "" || database === ":memory:") return fault;
    return await tryWrite(database).then(() => "", (error) => `it cannot be written: ${codeOf(error)}`);
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
  // Which says nothing to root, and nothing of a disk that became one for reading. The file itself must not be opened:
  // closing it would take away the locks that the database has on it.
  const fault = folderFault(dirname(path));
  if (fault !== "") throw new Error(fault);
}

async function freeAt(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
