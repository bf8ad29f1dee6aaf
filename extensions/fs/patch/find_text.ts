import { Pace } from "../../../src/extension/spec.ts";

/** Maximum comparisons for the engine's own search, whose worst case is the product of the two lengths. */
const MAX_PRODUCT = 20_000_000;
const SLICE = 1 << 15;
const MAX_PLACES = 1_000_000;

/** Where a part occurs in a text, without overlaps. Takes linear time in the two lengths, with pauses. */
export async function findText(
  text: string,
  part: string,
  { signal }: { readonly signal: AbortSignal | undefined },
): Promise<number[]> {
  const found: number[] = [];
  if (part === "" || part.length > text.length) return found;
  if (part.length <= 16 || text.length * part.length <= MAX_PRODUCT) {
    for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
      found.push(at);
      if (found.length > MAX_PLACES) throw tooMany();
    }
    return found;
  }
  const pace = new Pace(signal);
  await pace.rest();
  const fallback = await fallbackOf(part, pace);
  for (let at = 0, length = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== code) length = fallback[length - 1] ?? 0;
    if (part.charCodeAt(length) === code) length++;
    if (length === part.length) {
      found.push(at - length + 1);
      length = 0;
    }
    if (at % SLICE === 0 && pace.due) await pace.rest();
  }
  return found;
}

function tooMany(): RangeError {
  return new RangeError(
    `Cannot find a text that occurs over ${MAX_PLACES} times: take a longer one, or write the file`,
  );
}

/** Knuth-Morris-Pratt: how much of the part still matches after each of its prefixes. */
async function fallbackOf(part: string, pace: Pace): Promise<Int32Array> {
  const table = new Int32Array(part.length);
  for (let at = 1, length = 0; at < part.length; at++) {
    const code = part.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== code) length = table[length - 1] ?? 0;
    if (part.charCodeAt(length) === code) length++;
    table[at] = length;
    if (at % SLICE === 0 && pace.due) await pace.rest();
  }
  return table;
}
