const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

/** A file name as printed by git. A name that is not UTF-8 is kept in git's quoted form and can be passed back to git. */
export function nameOf(printed: string): string {
  if (!printed.startsWith('"')) return printed;
  const bytes: number[] = [];
  const inner = printed.slice(1, -1);
  for (let at = 0; at < inner.length; at++) {
    const char = inner[at] ?? "";
    if (char !== "\\") {
      bytes.push(...new TextEncoder().encode(char));
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(inner.slice(at + 1, at + 4))?.[0];
    bytes.push(octal === undefined ? ESCAPES[inner[at + 1] ?? ""] ?? 0 : Number.parseInt(octal, 8));
    at += octal === undefined ? 1 : 3;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(bytes));
  } catch {
    return printed;
  }
}

/** A name in the format of git's input lists, one per line. */
export function printedName(name: string): string {
  if (isPrinted(name) || !/^"|[\\\n\r\t]/.test(name)) return name;
  const escaped = name.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll(
    "\t",
    "\\t",
  );
  return `"${escaped}"`;
}

/** Whether this is a name that is not UTF-8, as returned by `nameOf`. */
export function isPrinted(name: string): boolean {
  return /^".*\\[2-3][0-7]{2}.*"$/s.test(name);
}

/** Splits git's column output: a quoted name contains no tab. */
export function columns(line: string): readonly string[] {
  return line.split("\t");
}
