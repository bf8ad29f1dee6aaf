import { sucraseText } from "./sucrase_text.ts";
import { type ModuleImport, moduleImports } from "../child/syntax/module_imports.ts";
import { sucraseLoader } from "../child/prepare/sucrase_loader.ts";

export interface ModuleSource {
  /** Plain JavaScript. */
  readonly code: string;
  readonly imports: readonly ModuleImport[];
}

/** Reads modules that are imported at run time, since an executable does not strip types. */
export function moduleReader(): (source: string, path: string) => ModuleSource {
  const sucrase = sucraseLoader({ text: sucraseText() });
  return (source, path) => {
    const typed = /\.[mc]?ts$/.test(path);
    const code = typed
      ? sucrase()(source, { transforms: ["typescript"], disableESTransforms: true, filePath: path }).code
      : source;
    return { code, imports: moduleImports(code) };
  };
}
