/** The block from the line on that declares `name`; all of it if there is no such line. */
export function declaringLine(code: string, name: string): string {
  const lines = code.trim().split("\n");
  const at = lines.findIndex((line) => KEYWORD.test(line) && line.match(NAMES)?.some((word) => word === name));
  return lines.slice(Math.max(0, at)).join("\n");
}

const KEYWORD = /\b(?:const|let|var|function|class|enum|namespace)\b/;
const NAMES = /[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;
