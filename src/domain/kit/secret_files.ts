import { matchesWildcard } from "./names.ts";

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

/** `path` is relative to the workspace, and letter case does not count. The last matching pattern decides; `!` makes an
 * exception. A pattern without `/` matches the last part of the path. */
export function isSecretFile(path: string, patterns: readonly string[]): boolean {
  const whole = path.toLowerCase();
  const name = whole.slice(whole.lastIndexOf("/") + 1);
  const found = patterns.findLast((one) => {
    const pattern = (one.startsWith("!") ? one.slice(1) : one).toLowerCase();
    return matchesWildcard(pattern, pattern.includes("/") ? whole : name);
  });
  return found !== undefined && !found.startsWith("!");
}
