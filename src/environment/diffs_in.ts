const MAX_DIFFS = 20;
const MAX_CHARS = 16 * 1024;

/** The diffs that an event reports from a function's result: its key `diff`, or that of each element, without those that
 * only say that a file was removed or moved. Bounded, since events carry them. */
export function diffsIn(result: unknown): { readonly diffs?: readonly string[] } {
  const found: string[] = [];
  let left = MAX_CHARS;
  const shown = allDiffs(result).filter((diff) => !/^--- a\/.*\n\+\+\+ .*\n$/.test(diff));
  for (const diff of shown.slice(0, MAX_DIFFS)) {
    if (left <= 0) break;
    found.push(diff.length > left ? `${diff.slice(0, diff.lastIndexOf("\n", left) + 1 || left)}…\n` : diff);
    left -= diff.length;
  }
  return found.length > 0 ? { diffs: found } : {};
}

/** All of them. */
export function allDiffs(result: unknown): readonly string[] {
  return (Array.isArray(result) ? result : [result]).flatMap((one: unknown) => {
    const diff: unknown = typeof one === "object" && one !== null ? Reflect.get(one, "diff") : undefined;
    return typeof diff === "string" && diff !== "" ? [diff] : [];
  });
}
