import type { Extension } from "./spec.ts";
import { TAKEN_NAMES } from "./taken_names.ts";

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
/** A path that stays inside the folder. */
const PATH = /^\.\/(?:(?!\.\.?\/)[\w.-]+\/)*[\w.-]+\.m?[jt]s$/;
const MAX_MODULES = 50;

/** Returns what is wrong with `modules`, or null: a name that the realm already has, or a path that leads out of the
 * folder. */
export function moduleFault({ modules = {}, alias }: Extension): string | null {
  const entries = Object.entries(modules);
  if (entries.length > MAX_MODULES) return `modules has ${entries.length} names, over ${MAX_MODULES}`;
  for (const [name, path] of entries) {
    if (!IDENTIFIER.test(name)) return `modules.${name} must be a name like "stats"`;
    // A global of this process exists in the realm too, or is missing there on purpose.
    if (TAKEN_NAMES.has(name) || name in globalThis) return `modules.${name} is a name that the sandbox uses`;
    if (name === alias.alias) return `modules.${name} is the alias as well`;
    if (!PATH.test(path)) return `modules.${name} must be a path in its folder like "./stats.ts", not ${path}`;
  }
  return null;
}
