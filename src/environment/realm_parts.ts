import type { ActiveExtensions } from "../extension/registry/registry.ts";
import type { SandboxOptions } from "../sandbox/sandbox.ts";
import { BUILTIN_NAMES } from "./builtins.ts";

/** What the active extensions add to a sandbox, besides the built-in functions. */
export function realmParts(
  active: ActiveExtensions | null,
): Pick<SandboxOptions, "functions" | "untimed" | "constants" | "grants" | "globals"> {
  return {
    functions: [...BUILTIN_NAMES, ...active?.functions ?? [], ...offFunctions(active)],
    untimed: active?.untimed ?? [],
    constants: active?.constants ?? {},
    grants: active?.grants ?? { net: [], read: [], write: [], env: [] },
    globals: active?.globals ?? [],
  };
}

/** They are in the realm too, so that a call says how the user switches them on. */
function offFunctions(active: ActiveExtensions | null): readonly string[] {
  return (active?.off ?? []).flatMap(({ functions }) => functions);
}

/** What a child was started with, as text. If it changes, a new child is needed. Functions are called by name. */
export function boundText({ functions, untimed, grants, globals, constants, modules, off }: ActiveExtensions): string {
  return JSON.stringify([off, functions, untimed, grants, globals, constants, modules], (_key, value: unknown) => {
    if (typeof value === "bigint") return `${value}n`;
    return value instanceof Map || value instanceof Set ? [...value] : value;
  });
}
