import { newWorkFolder, removeWorkFolder } from "./_work_folder.ts";

/** Throws `ConfigError` where a sandbox would have no folder to run in. */
export function tryWorkFolder(): void {
  removeWorkFolder(newWorkFolder());
}
