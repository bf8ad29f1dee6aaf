import { dirname } from "node:path";
import { fileFault } from "../../domain/text/file_fault.ts";

/** Why nothing can be put into a folder that is there, or that would be made with what is above it; "" where it can. */
export function folderFault(path: string): string {
  try {
    const folder = nearest(path);
    if (!Deno.statSync(folder).isDirectory) return `${folder} is not a folder`;
    // Tried, as rights say nothing to root, and nothing of a disk for reading; in one breath, so that nothing is left.
    Deno.removeSync(Deno.makeTempDirSync({ dir: folder, prefix: ".vis-doctor-" }));
    return "";
  } catch (error) {
    return fileFault(error);
  }
}

/** The folder itself, or the lowest one above it that is there. */
function nearest(path: string): string {
  try {
    Deno.statSync(path);
    return path;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || dirname(path) === path) throw error;
    return nearest(dirname(path));
  }
}
