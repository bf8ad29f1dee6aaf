import { join } from "node:path";
import { withFolder } from "./with_folder.ts";

export async function withDatabase(work: (path: string) => Promise<void>): Promise<void> {
  await withFolder((folder) => work(join(folder, "x.db")));
}
