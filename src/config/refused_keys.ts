/** Vis's own keys that a project's file may set. Blocks can write that file, so it must not be able to name a
 * command, a host, a key or a grant; its denials are added to the user's. */
export const PROJECT_KEYS: readonly string[] = [
  "model",
  "budget.iterations",
  "context",
  "extensions.deny",
  "secrets",
];

/** The full keys in a project's file that it must not set, with their values. */
export function refusedKeys(values: unknown, allowed: readonly string[]): readonly Refused[] {
  return refusedBelow(values, { path: "", allowed });
}

interface Refused {
  readonly key: string;
  readonly value: unknown;
}

function refusedBelow(
  values: unknown,
  { path, allowed }: { readonly path: string; readonly allowed: readonly string[] },
): Refused[] {
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    return path === "" ? [] : [{ key: path, value: values }];
  }
  return Object.entries(values).flatMap(([key, value]) => {
    const at = path === "" ? key : `${path}.${key}`;
    if (at === "$schema" || allowed.includes(at)) return [];
    const isParent = allowed.some((one) => one.startsWith(`${at}.`));
    return isParent ? refusedBelow(value, { path: at, allowed }) : [{ key: at, value }];
  });
}
