/** Lines `from` to `to` (exclusive) of the old text became lines `newFrom` to `newTo` of the new one. */
export interface LineChange {
  readonly from: number;
  readonly to: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** If more lines than this were removed and added, the texts count as entirely different: time grows with the square. */
const MAX_DISTANCE = 1_000;

/** The minimal changes from one list of lines to the other, in order. Bounded in time; lists that differ too much count
 * as changed from the first different line to the last. */
export async function lineChanges(a: readonly string[], b: readonly string[]): Promise<readonly LineChange[]> {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [oldEnd, newEnd] = [a.length - tail, b.length - tail];
  if (head === oldEnd && head === newEnd) return [];
  const whole = { from: head, to: oldEnd, newFrom: head, newTo: newEnd };
  if (head === oldEnd || head === newEnd) return [whole];
  const { diffArrays } = await import("diff");
  const parts = diffArrays(a.slice(head, oldEnd), b.slice(head, newEnd), { maxEditLength: MAX_DISTANCE });
  return parts === undefined ? [whole] : changesOf(parts, head);
}

interface Part {
  readonly added: boolean;
  readonly removed: boolean;
  readonly count: number;
}

/** Joins what was removed and added at one place. */
function changesOf(parts: readonly Part[], head: number): readonly LineChange[] {
  const found: LineChange[] = [];
  let [x, y, isOpen] = [head, head, false];
  for (const { added, removed, count } of parts) {
    const [to, newTo] = [added ? x : x + count, removed ? y : y + count];
    if (added || removed) {
      const { from, newFrom } = (isOpen ? found.pop() : undefined) ?? { from: x, newFrom: y };
      found.push({ from, to, newFrom, newTo });
    }
    [x, y, isOpen] = [to, newTo, added || removed];
  }
  return found;
}
