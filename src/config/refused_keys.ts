/** What the file of a project may set. Blocks can write that file, so nothing in it may name a command, a host, a key
 * or a grant; what it denies comes on top of what the user denies. */
export const PROJECT_KEYS: readonly string[] = [
  "model",
  "budget.iterations",
  "context",
  "extensions.deny",
  "shell.deny",
  "autoForget",
];

/** The keys of a project's file that it may not set, the whole of each. */
export function refusedKeys(values: unknown): readonly string[] {
  return refusedBelow(values, "");
}

function refusedBelow(values: unknown, path: string): string[] {
  if (typeof values !== "object" || values === null || Array.isArray(values)) return path === "" ? [] : [path];
  return Object.entries(values).flatMap(([key, value]) => {
    const at = path === "" ? key : `${path}.${key}`;
    if (at === "$schema" || PROJECT_KEYS.includes(at)) return [];
    return PROJECT_KEYS.some((allowed) => allowed.startsWith(`${at}.`)) ? refusedBelow(value, at) : [at];
  });
}
