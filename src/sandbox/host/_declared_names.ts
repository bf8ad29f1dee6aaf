/** The preparation of a block refuses longer ones. */
const MAX_CHARS = 256 << 10;
const NAME = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*`;
/** Comments, texts, marks of structure, and the keywords that declare. */
const TOKEN = new RegExp(
  String.raw`//[^\n]*|/\*[^]*?(?:\*/|$)|"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?|` +
    "`(?:[^`\\\\]|\\\\[^])*`?|" +
    String.raw`[{}()[\],;]|(?<![\w$.#])(?:const|let|var|class|enum|function)(?![\w$])[\s*]*`,
  "gu",
);
const NEXT_NAME = new RegExp(String.raw`\s*(${NAME})`, "uy");
const NAME_IN_PATTERN = new RegExp(String.raw`(?<=[{[,:]\s*|\.\.\.)${NAME}(?=\s*[,}\]=])`, "gu");

/** Names that a block declares at its top level, for a block whose child died before it could report them. They are
 * found by their keywords: parsing could take the main process too long. Patterns may give a name too many. */
export function declaredNames(code: string): string[] {
  const names = new Set<string>();
  if (code.length > MAX_CHARS) return [];
  let depth = 0, pattern = -1;
  let isList = false; // after a comma, a variable declaration has another name
  const takeName = (from: number): boolean => {
    NEXT_NAME.lastIndex = from;
    const name = NEXT_NAME.exec(code)?.[1];
    if (name !== undefined) names.add(name);
    return name !== undefined;
  };
  for (const { 0: token, index } of code.matchAll(TOKEN)) {
    const first = token.charAt(0), end = index + token.length;
    if (first === "{" || first === "[" || first === "(") depth++;
    else if (first === "}" || first === "]" || first === ")") {
      depth = Math.max(0, depth - 1);
      if (depth > 0 || pattern < 0) continue;
      for (const [name] of code.slice(pattern, end).matchAll(NAME_IN_PATTERN)) names.add(name);
      pattern = -1;
    } else if (depth > 0 || /^["'`/]/.test(first)) continue;
    else if (first === ";") isList = false;
    else if (first !== "," || isList) {
      if (first !== ",") isList = /^[clv][oea][ntr]/.test(token);
      if (!takeName(end) && isList) pattern = end;
    }
  }
  return [...names];
}
