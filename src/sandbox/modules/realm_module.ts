import { sucraseText } from "./sucrase_text.ts";
import { moduleScript } from "../child/syntax/module_script.ts";
import { sucraseLoader } from "../child/prepare/sucrase_loader.ts";

/** Limit per module. */
const MAX_CHARS = 1 << 20;

/** Turns a self-contained module into a script for `SandboxOptions.modules`. The returned function throws Error with
 * the reason if that is impossible. */
export function realmModuleReader(): (source: string, path: string) => string {
  const sucrase = sucraseLoader({ text: sucraseText() });
  return (source, path) => {
    if (source.length > MAX_CHARS) {
      throw new Error(`Cannot use module ${path}: ${source.length} characters, over ${MAX_CHARS}`);
    }
    const plain = /\.[mc]?ts$/.test(path)
      ? sucrase()(source, { transforms: ["typescript"], disableESTransforms: true, filePath: path }).code
      : source;
    return moduleScript(plain, path);
  };
}
