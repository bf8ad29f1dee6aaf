import { join } from "node:path";
import { withFolder } from "./with_folder.ts";

/** The database does not exist yet, and its folder exists only during `work`. */
export async function withDatabase(work: (path: string) => Promise<void>): Promise<void> {
  await withFolder((folder) => work(join(folder, "x.db")));
}
