/** The text with strings, templates and comments blanked out, every other character in its place. Regular expressions
 * are not recognised: enough for a question that a wrong yes does not hurt. */
export function codeOnly(text: string): string {
  return text.replace(
    /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|`(?:[^`\\]|\\[\s\S])*`?/g,
    (found) => found.replace(/[^\n]/g, " "),
  );
}
