/** The block from the line on that declares `name` or assigns to it; "" if there is no such line. */
export function declaringLine(code: string, name: string): string {
  const lines = code.trim().split("\n");
  const named = lines.map((line) => line.match(NAMES)?.includes(name) ?? false);
  const declared = lines.findIndex((line, at) => named[at] && KEYWORD.test(line));
  const at = declared >= 0 ? declared : lines.findIndex((line, at) => named[at] && ASSIGNED.test(line));
  return at < 0 ? "" : lines.slice(at).join("\n");
}

const KEYWORD = /\b(?:const|let|var|function|class|enum|namespace)\b/;
const ASSIGNED = /[^=!<>]=(?![=>])/;
const NAMES = /[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;
