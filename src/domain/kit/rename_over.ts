import { rename } from "node:fs/promises";
import { REAL_CLOCK } from "./clock.ts";

/** Windows refuses it while another process, such as a virus scanner, has one of the files open. */
const HELD = ["EACCES", "EBUSY", "EPERM"];
const TRIES = 10, PAUSE_MS = 50;

interface Options {
  /** Closes what this process has open of the file that is replaced. Called only where that would be in the way. */
  readonly release?: () => void;
  /** The system, and how it renames; tests of another one. */
  readonly os?: typeof Deno.build.os;
  readonly attempt?: (from: string, to: string) => Promise<void>;
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Gives a file the name of another, which it replaces. On Windows it waits up to half a second for those who have one
 * of them open. */
export async function renameOver(
  from: string,
  to: string,
  { release, os = Deno.build.os, attempt = rename, sleep = REAL_CLOCK.sleep }: Options = {},
): Promise<void> {
  if (os !== "windows") return await attempt(from, to);
  release?.();
  for (let tries = 1;; tries++) {
    try {
      return await attempt(from, to);
    } catch (error) {
      const isHeld = error instanceof Error && "code" in error && HELD.includes(String(error.code));
      if (!isHeld || tries === TRIES) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
