import { Pace } from "../tree/pace.ts";

/** Lines `from` to `to` (exclusive) of the old text became lines `newFrom` to `newTo` of the new one. */
export interface LineChange {
  readonly from: number;
  readonly to: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** If more lines than this were removed and added, the texts count as entirely different: time grows with the square. */
const MAX_DISTANCE = 1_000;

/** The minimal changes from one list of lines to the other, in order (Myers). Bounded in time, with pauses; lists that
 * differ too much count as changed from the first different line to the last. */
export async function lineChanges(
  a: readonly string[],
  b: readonly string[],
  { signal }: { readonly signal: AbortSignal | undefined },
): Promise<readonly LineChange[]> {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [oldEnd, newEnd] = [a.length - tail, b.length - tail];
  if (head === oldEnd && head === newEnd) return [];
  const whole = { from: head, to: oldEnd, newFrom: head, newTo: newEnd };
  if (head === oldEnd || head === newEnd) return [whole];
  const trace = await shortest(a.slice(head, oldEnd), b.slice(head, newEnd), new Pace(signal));
  return trace === null ? [whole] : changesOf(trace, { head, n: oldEnd - head, m: newEnd - head });
}

/** The furthest point on each diagonal, for each number of changes; null if there are too many. */
async function shortest(a: readonly string[], b: readonly string[], pace: Pace): Promise<readonly Int32Array[] | null> {
  const [x, y] = numbered(a, b);
  const [n, m] = [x.length, y.length];
  const trace: Int32Array[] = [];
  let before = new Int32Array(3);
  for (let d = 0; d <= MAX_DISTANCE; d++) {
    if (pace.due) await pace.rest();
    // Diagonal k is at index k + d + 1, so that both neighbours exist.
    const reached = new Int32Array(2 * d + 3);
    for (let k = -d; k <= d; k += 2) {
      const left = before[k - 1 + d] ?? 0, right = before[k + 1 + d] ?? 0;
      let at = d === 0 ? 0 : k === -d || (k !== d && left < right) ? right : left + 1;
      while (at < n && at - k < m && x[at] === y[at - k]) at++;
      reached[k + d + 1] = at;
      if (at >= n && at - k >= m) return [...trace, reached];
    }
    trace.push(reached);
    before = reached;
  }
  return null;
}

/** Maps equal lines to equal numbers, which compare in one step regardless of length. */
function numbered(a: readonly string[], b: readonly string[]): readonly [Int32Array, Int32Array] {
  const numbers = new Map<string, number>();
  const of = (line: string): number => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  };
  return [Int32Array.from(a, of), Int32Array.from(b, of)];
}

/** Walks back from the end and joins adjacent steps. */
function changesOf(
  trace: readonly Int32Array[],
  { head, n, m }: { readonly head: number; readonly n: number; readonly m: number },
): readonly LineChange[] {
  const found: { from: number; to: number; newFrom: number; newTo: number }[] = [];
  let [x, y] = [n, m];
  for (let d = trace.length - 1; d > 0; d--) {
    const before = trace[d - 1] ?? new Int32Array();
    const k = x - y;
    const left = before[k - 1 + d] ?? 0, right = before[k + 1 + d] ?? 0;
    const down = k === -d || (k !== d && left < right);
    const fromX = down ? right : left;
    const fromY = fromX - (down ? k + 1 : k - 1);
    const step = { from: fromX, to: down ? fromX : fromX + 1, newFrom: fromY, newTo: down ? fromY + 1 : fromY };
    const next = found[0];
    if (next && next.from === step.to && next.newFrom === step.newTo) {
      next.from = step.from;
      next.newFrom = step.newFrom;
    } else found.unshift(step);
    [x, y] = [fromX, fromY];
  }
  return found.map(({ from, to, newFrom, newTo }) => (
    { from: from + head, to: to + head, newFrom: newFrom + head, newTo: newTo + head }
  ));
}
