/** The extent of a JSON value. */
export interface Scan {
  /** Index after its end; -1 if the text ends first. */
  readonly end: number;
  /** The text up to its last complete part, with everything open closed; "" if nothing is complete. */
  readonly closed: () => string;
}

/** Finds the end of the object or array at `start` in one pass, without recursion. Recognises strings; a bracket of the
 * wrong kind closes what it can. */
export function scanJson(text: string, start: number): Scan {
  const stack: ("}" | "]")[] = [];
  const open = { "}": 0, "]": 0 };
  let key = false;
  let safe = start;
  let at = start;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at);
      if (end === -1) break;
      at = end;
      if (!key) safe = at;
      continue;
    }
    at++;
    if (char === "{" || char === "[") {
      const closer = char === "{" ? "}" : "]";
      stack.push(closer);
      open[closer]++;
      key = char === "{";
      safe = at;
    } else if (char === "}" || char === "]") {
      // Each step pops, so the whole pass takes linear time.
      while (open[char] > 0) {
        const closer = stack.pop();
        if (closer === undefined) break;
        open[closer]--;
        if (closer === char) break;
      }
      key = false;
      safe = at;
      if (stack.length === 0) return { end: at, closed: () => text.slice(start, at) };
    } else if (char === ",") {
      if (!key) safe = at - 1;
      key = stack.at(-1) === "}";
    } else if (char === ":") key = false;
  }
  return { end: -1, closed: () => text.slice(start, safe) + stack.toReversed().join("") };
}

/** Index after the closing quote of the string that opens at `at`, or -1. */
function stringEnd(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i];
    if (char === "\\") i++;
    else if (char === '"') return i + 1;
  }
  return -1;
}
