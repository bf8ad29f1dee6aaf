/** Up to three names that hold the same words or differ by a few letters, the nearest first. */
export function nearestNames(name: string, names: readonly string[]): readonly string[] {
  const words = wordsOf(name);
  return names.map((other) => ({ other, score: score(words, wordsOf(other)) }))
    .filter((one) => one.score >= 0.5)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map((one) => one.other);
}

function wordsOf(name: string): readonly string[] {
  return name.replace(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase().split(/[^a-z\d]+/).filter((word) => word !== "");
}

/** Pairs of letters that both have, of all that there are. */
function score(a: readonly string[], b: readonly string[]): number {
  const [one, other] = [pairs(a), pairs(b)];
  const shared = [...one].filter((pair) => other.has(pair)).length;
  return (2 * shared) / Math.max(1, one.size + other.size);
}

function pairs(words: readonly string[]): ReadonlySet<string> {
  const text = words.join("").slice(0, 100);
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));
}
