import { matchesWildcard } from "./names.ts";

/** Files that may hold keys and passwords. The exceptions are examples, and files such as `id_map.py` and
 * `id_rsa.pub`. */
export const SECRET_PATTERNS: readonly string[] = [
  ".env*",
  "!.env.example",
  "!.env.sample",
  "!.env.template",
  "!.env.dist",
  "id_*",
  "!id_*.*",
  "*.pem",
  "*.key",
];

/** Returns whether a path relative to the workspace names a secret file; upper and lower case are equal. The last
 * matching pattern decides; `!` before a pattern makes an exception. A pattern without `/` matches the last part of the
 * path. */
export function isSecretFile(path: string, patterns: readonly string[]): boolean {
  const whole = path.toLowerCase();
  const name = whole.slice(whole.lastIndexOf("/") + 1);
  const found = patterns.findLast((one) => {
    const pattern = (one.startsWith("!") ? one.slice(1) : one).toLowerCase();
    return matchesWildcard(pattern, pattern.includes("/") ? whole : name);
  });
  return found !== undefined && !found.startsWith("!");
}
