import { join } from "node:path";
import { withFolder } from "./with_folder.ts";

/** The path of a database that does not exist yet, in a folder of its own that is removed afterwards. */
export async function withDatabase(work: (path: string) => Promise<void>): Promise<void> {
  await withFolder((folder) => work(join(folder, "x.db")));
}
