export type GlobToken =
  | { readonly kind: "char"; readonly char: string }
  | { readonly kind: "one" }
  | { readonly kind: "many" }
  | { readonly kind: "class"; readonly not: boolean; readonly ranges: readonly (readonly [string, string])[] };
/** One name of a path, or any number of folders. */
export type GlobSegment = readonly GlobToken[] | "**";

/** The tokens of a pattern for one name. */
export function tokensOf(part: string): GlobToken[] {
  const tokens: GlobToken[] = [];
  const chars = [...part];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    const end = char === "[" ? chars.indexOf("]", at + (chars[at + 1] === "!" || chars[at + 1] === "^" ? 3 : 2)) : -1;
    if (char === "\\" && at + 1 < chars.length) tokens.push({ kind: "char", char: chars[++at] ?? "" });
    else if (char === "?") tokens.push({ kind: "one" });
    else if (char === "*" && tokens.at(-1)?.kind !== "many") tokens.push({ kind: "many" });
    else if (end > 0) {
      tokens.push(classOf(chars.slice(at + 1, end)));
      at = end;
    } else if (char !== "*") tokens.push({ kind: "char", char });
  }
  return tokens;
}

function classOf(chars: readonly string[]): GlobToken {
  const not = chars[0] === "!" || chars[0] === "^";
  const ranges: [string, string][] = [];
  for (let at = not ? 1 : 0; at < chars.length; at++) {
    const from = chars[at] ?? "";
    const isRange = chars[at + 1] === "-" && at + 2 < chars.length;
    ranges.push([from, isRange ? chars[at + 2] ?? from : from]);
    if (isRange) at += 2;
  }
  return { kind: "class", not, ranges };
}
