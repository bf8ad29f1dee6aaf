import { SYSTEM_VARIABLES } from "../domain/query/variable.ts";
import type { ActiveExtensions } from "../extension/registry/registry.ts";
import { BUILTIN_NAMES } from "./builtins.ts";

/** What every realm has from us beside the builtins. */
const ALWAYS = ["console", "print", "results", "shape"];

/** Names of the realm that are not the user's, those of the language aside. */
export function initialNames(active: ActiveExtensions | null): ReadonlySet<string> {
  const { functions = [], constants = {}, modules = {}, globals = [] } = active ?? {};
  const roots = [...functions, ...Object.keys(constants), ...globals].map((name) => name.split(".")[0] ?? name);
  return new Set([...SYSTEM_VARIABLES, ...ALWAYS, ...BUILTIN_NAMES, ...roots, ...Object.keys(modules)]);
}
