import { join } from "node:path";
import { withFolder } from "./with_folder.ts";

/** Passes the path of a database that does not exist yet, in its own folder, which is removed afterwards. */
export async function withDatabase(work: (path: string) => Promise<void>): Promise<void> {
  await withFolder((folder) => work(join(folder, "x.db")));
}
