import { moduleScript } from "../child/syntax/modules.ts";
import { typeStripper } from "./strip_types.ts";

/** Limit per module. */
const MAX_CHARS = 1 << 20;

/** Turns a self-contained module into a script for `SandboxOptions.modules`. The returned function throws Error with
 * the reason if that is impossible. */
export function realmModuleReader(): (source: string, path: string) => string {
  const stripTypes = typeStripper();
  return (source, path) => {
    if (source.length > MAX_CHARS) {
      throw new Error(`Cannot use module ${path}: ${source.length} characters, over ${MAX_CHARS}`);
    }
    return moduleScript(stripTypes(source, path), path);
  };
}
