import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

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
  /** Bytes that are free where a file is; others in tests. */
  readonly freeBytes?: (path: string) => Promise<number>;
}

/** What a query needs, by name: what is wrong with it, "" where nothing is. */
export type Readiness = () => Promise<Readonly<Record<"sandbox" | "disk", string>>>;

/** Whether this machine can run queries now. A sandbox is tried at most once in five minutes while it works, and once in
 * five seconds while it does not; many who ask at once wait for the same one. */
export function readiness({ database, trySandbox, now, freeBytes = freeAt }: ReadinessParts): Readiness {
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
  return async () => {
    const [ofSandbox, ofDisk] = await Promise.all([sandbox(), disk()]);
    return { sandbox: ofSandbox, disk: ofDisk };
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function freeAt(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
