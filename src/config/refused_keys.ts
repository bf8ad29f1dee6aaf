/** What the file of a project may set of Vis itself. Blocks can write that file, so nothing in it may name a command, a host, a key
 * or a grant; what it denies comes on top of what the user denies. */
export const PROJECT_KEYS: readonly string[] = [
  "model",
  "budget.iterations",
  "context",
  "extensions.deny",
  "autoForget",
];

/** The keys of a project's file that it may not set, the whole of each. */
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
