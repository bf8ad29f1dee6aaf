import { type ModuleImport, moduleImports } from "../child/syntax/modules.ts";
import { typeStripper } from "./strip_types.ts";

export interface ModuleSource {
  /** Plain JavaScript. */
  readonly code: string;
  readonly imports: readonly ModuleImport[];
}

/** Reads modules that are imported at run time. */
export function moduleReader(): (source: string, path: string) => ModuleSource {
  const stripTypes = typeStripper();
  return (source, path) => {
    const code = stripTypes(source, path);
    return { code, imports: moduleImports(code) };
  };
}
