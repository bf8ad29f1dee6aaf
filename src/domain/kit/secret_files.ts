import { matchesWildcard } from "./names.ts";

/** Files that may hold keys and passwords. The last matching pattern decides; `!` excludes files. Names of programs and
 * examples are not secret, such as `id_map.py`, `id_rsa.pub` and `.env.example`. */
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

/** Whether a path relative to the workspace names a secret file, in any case. The last matching pattern decides; `!`
 * before a pattern makes an exception. A pattern without `/` matches the last part of the path. */
export function isSecretFile(path: string, patterns: readonly string[]): boolean {
  const whole = path.toLowerCase();
  const name = whole.slice(whole.lastIndexOf("/") + 1);
  const found = patterns.findLast((one) => {
    const pattern = (one.startsWith("!") ? one.slice(1) : one).toLowerCase();
    return matchesWildcard(pattern, pattern.includes("/") ? whole : name);
  });
  return found !== undefined && !found.startsWith("!");
}
