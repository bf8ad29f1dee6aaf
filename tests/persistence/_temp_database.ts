import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs the work with a path at which no database exists yet, and removes the folder afterwards. */
export async function withDatabasePath(work: (path: string, folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "vis-store-"));
  try {
    await work(join(folder, "vis.db"), folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
