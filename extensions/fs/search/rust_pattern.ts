/** RE2's meaning of an escape, written for Rust's engine, in which the escape covers more than ASCII. */
const OUTSIDE: Readonly<Record<string, string>> = {
  b: "(?-u:\\b)",
  w: "[0-9A-Za-z_]",
  W: "[^0-9A-Za-z_]",
  d: "[0-9]",
  D: "[^0-9]",
  s: "[\\t\\n\\f\\r ]",
  S: "[^\\t\\n\\f\\r ]",
};
const INSIDE: Readonly<Record<string, string>> = { w: "0-9A-Za-z_", d: "0-9", s: "\\t\\n\\f\\r " };

/** An RE2 pattern translated for ripgrep; null if the two may differ. */
export function rustPattern(pattern: string): string | null {
  let written = "";
  let inside = false;
  const chars = [...pattern];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    if (char === "\\") {
      const escaped = chars[++at] ?? "";
      const known = (inside ? INSIDE : OUTSIDE)[escaped];
      if (known !== undefined) written += known;
      else if (/[^A-Za-z0-9\s]/.test(escaped) || /[nrtfv]/.test(escaped)) written += `\\${escaped}`;
      else return null; // \p, \B, \Q, \x, inside a class \W and the like
    } else if (inside) {
      if (char === "[" && chars[at + 1] === ":") return null;
      if (char === "]") inside = false;
      written += /[[&~]/.test(char) ? `\\${char}` : char;
    } else if (char === "[") {
      inside = true;
      const not = chars[at + 1] === "^" ? "^" : "";
      if (not) at++;
      written += `[${not}`;
      if (chars[at + 1] === "]") {
        written += "\\]";
        at++;
      }
    } else if (char === "(" && chars[at + 1] === "?" && !/[:P<i]/.test(chars[at + 2] ?? "")) return null;
    else written += char;
  }
  return inside ? null : written;
}
