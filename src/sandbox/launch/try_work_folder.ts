import { WorkFolder } from "./work_folder.ts";

/** Throws `ConfigError` if a sandbox would have no folder to run in. */
export function tryWorkFolder(): void {
  new WorkFolder().remove();
}
