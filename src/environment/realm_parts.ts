import type { ActiveExtensions } from "../extension/registry.ts";
import type { SandboxOptions } from "../sandbox/sandbox.ts";
import { BUILTIN_NAMES } from "./builtins.ts";

/** Their calls have deadlines of their own: waiting for them takes none of a block's time. */
const UNTIMED = /^(rlm|shell|git)\./;

/** What the active extensions give a sandbox, beside the functions that every one has. */
export function realmParts(
  active: ActiveExtensions | null,
): Pick<SandboxOptions, "functions" | "untimed" | "constants" | "grants" | "globals"> {
  return {
    functions: [...BUILTIN_NAMES, ...active?.functions ?? []],
    untimed: active?.functions.filter((name) => UNTIMED.test(name)) ?? [],
    constants: active?.constants ?? {},
    grants: active?.grants ?? { net: [], read: [], write: [], env: [] },
    globals: active?.globals ?? [],
  };
}

/** What a child was given, as text: where it changes, another child is needed. Functions are called by their names. */
export function boundText({ functions, grants, globals, constants, modules }: ActiveExtensions): string {
  return JSON.stringify([functions, grants, globals, constants, modules], (_key, value: unknown) => {
    if (typeof value === "bigint") return `${value}n`;
    return value instanceof Map || value instanceof Set ? [...value] : value;
  });
}
