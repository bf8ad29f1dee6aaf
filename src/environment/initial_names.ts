import { SYSTEM_VARIABLES } from "../domain/query/variable.ts";
import type { ActiveExtensions } from "../extension/registry/registry.ts";
import { BUILTIN_NAMES } from "./builtins.ts";

/** What Vis adds to every realm besides the builtins. */
const ALWAYS = ["console", "print", "printed", "results", "shape", "vis"];

/** Names in the realm that the user did not declare, without those of the language. */
export function initialNames(active: ActiveExtensions | null): ReadonlySet<string> {
  const { functions = [], constants = {}, modules = {}, globals = [], off = [] } = active ?? {};
  const roots = [...functions, ...off.map(({ alias }) => alias), ...Object.keys(constants), ...globals].map((name) =>
    name.split(".")[0] ?? name
  );
  return new Set([...SYSTEM_VARIABLES, ...ALWAYS, ...BUILTIN_NAMES, ...roots, ...Object.keys(modules)]);
}
