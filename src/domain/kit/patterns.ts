/** Whether a text matches a pattern in which `*` stands for any text. Linear: no pattern can hang it. */
export function matchesWildcard(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

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
