const SHOWN = 3;
const MAX_LENGTH = 200;

/** The names most like one that is not among them, best first. */
export function nearest(wanted: string, known: readonly string[]): readonly string[] {
  const small = wanted.toLowerCase().slice(0, MAX_LENGTH);
  return known.map((name) => ({ name, away: distance(small, name.toLowerCase().slice(0, MAX_LENGTH)) }))
    .sort((a, b) => a.away - b.away).slice(0, SHOWN).map(({ name }) => name);
}

/** Changes of one letter between two texts; a part of the other counts as near. */
function distance(a: string, b: string): number {
  if (a !== "" && (b.includes(a) || a.includes(b))) return Math.abs(a.length - b.length) / MAX_LENGTH;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
