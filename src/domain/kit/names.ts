const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

export function isVariableName(name: string): boolean {
  return NAME.test(name);
}

/** In the pattern, `*` matches any text. Matching does not backtrack, so a hostile pattern cannot take long. */
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

/** Adds the patterns with `/` once more for paths from the top of the repository, where the workspace is `folder`. */
export function patternsFromTop(patterns: readonly string[], folder: string): readonly string[] {
  const below = folder.replaceAll("\\", "/");
  if (below === "" || patterns.every((one) => !one.includes("/"))) return patterns;
  return patterns.flatMap((one) => {
    if (!one.includes("/")) return [one];
    return [one, one.startsWith("!") ? `!${below}/${one.slice(1)}` : `${below}/${one}`];
  });
}

const MAX_LENGTH = 200;

/** A name may differ in one letter, or in a third of the letters of `asked`. */
export function nearestName(asked: string, names: readonly string[]): string | null {
  const limit = Math.max(1, Math.floor(asked.length / 3));
  const [best] = byDistance(asked, names);
  return best && best.distance <= limit ? best.name : null;
}

/** Two names are close if one contains the other. */
export function nearestNames(asked: string, names: readonly string[]): readonly string[] {
  return byDistance(asked, names).map(({ name, distance }) => {
    const [a, b] = [asked.toLowerCase(), name.toLowerCase()];
    return { name, distance: a !== "" && (a.includes(b) || b.includes(a)) ? distance / MAX_LENGTH : distance };
  }).sort((a, b) => a.distance - b.distance).slice(0, 3).map(({ name }) => name);
}

function byDistance(asked: string, names: readonly string[]) {
  const small = asked.toLowerCase();
  return names.map((name) => ({ name, distance: editDistance(small, name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
}

/** The edits are an insertion, a removal, a replacement, or a swap of neighbours (optimal string alignment). Letters
 * after the first `MAX_LENGTH` do not count. */
export function editDistance(one: string, other: string): number {
  const [a, b] = [one.slice(0, MAX_LENGTH), other.slice(0, MAX_LENGTH)];
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? Infinity) + 1 : Infinity;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
