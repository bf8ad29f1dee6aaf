/** Vis's own keys that a project's file may set. Blocks can write that file, so it must not be able to name a
 * command, a host, a key or a grant; its denials are added to the user's. */
export const PROJECT_KEYS: readonly string[] = [
  "model",
  "budget.iterations",
  "context",
  "extensions.deny",
  "autoForget",
];

/** The full keys in a project's file that it must not set. */
export function refusedKeys(values: unknown, allowed: readonly string[]): readonly string[] {
  return refusedBelow(values, { path: "", allowed });
}

function refusedBelow(
  values: unknown,
  { path, allowed }: { readonly path: string; readonly allowed: readonly string[] },
): string[] {
  if (typeof values !== "object" || values === null || Array.isArray(values)) return path === "" ? [] : [path];
  return Object.entries(values).flatMap(([key, value]) => {
    const at = path === "" ? key : `${path}.${key}`;
    if (at === "$schema" || allowed.includes(at)) return [];
    return allowed.some((one) => one.startsWith(`${at}.`)) ? refusedBelow(value, { path: at, allowed }) : [at];
  });
}
