/** Blanks out strings, templates and comments; all other characters keep their positions. Regular expressions are not
 * recognized, which is enough where a false positive does no harm. */
export function codeOnly(text: string): string {
  return text.replace(
    /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|`(?:[^`\\]|\\[\s\S])*`?/g,
    (found) => found.replace(/[^\n]/g, " "),
  );
}
