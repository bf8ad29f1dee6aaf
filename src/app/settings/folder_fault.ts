import { dirname } from "node:path";
import { fileFault } from "../../domain/errors.ts";

/** Why nothing can be written to a folder, which may still have to be created; "" if it can. */
export function folderFault(path: string): string {
  try {
    const folder = nearest(path);
    if (!Deno.statSync(folder).isDirectory) return `${folder} is not a folder`;
    // Tested by writing, since permissions do not apply to root and do not show a read-only disk. It is synchronous, so
    // that nothing is left behind.
    Deno.removeSync(Deno.makeTempDirSync({ dir: folder, prefix: ".vis-doctor-" }));
    return "";
  } catch (error) {
    return fileFault(error);
  }
}

/** The folder itself, or its nearest existing parent. */
function nearest(path: string): string {
  try {
    Deno.statSync(path);
    return path;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || dirname(path) === path) throw error;
    return nearest(dirname(path));
  }
}
