import { matchesWildcard } from "./matches_wildcard.ts";

/** Files that may hold keys and passwords; the last pattern that matches decides, `!` takes files out again. Names of
 * programs and examples are no secrets: `id_map.py`, `id_rsa.pub`, `.env.example`. */
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

/** Whether a path relative to the workspace is that of a secret file, whatever its case. A pattern without `/` is that of
 * a name. */
export function isSecretFile(path: string, patterns: readonly string[]): boolean {
  const whole = path.toLowerCase();
  const name = whole.slice(whole.lastIndexOf("/") + 1);
  const found = patterns.findLast((one) => {
    const pattern = (one.startsWith("!") ? one.slice(1) : one).toLowerCase();
    return matchesWildcard(pattern, pattern.includes("/") ? whole : name);
  });
  return found !== undefined && !found.startsWith("!");
}
