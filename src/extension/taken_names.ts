/** Names that every sandbox has, and reserved words. No alias or module may use them. */
export const TAKEN_NAMES: ReadonlySet<string> = new Set(
  ("answer conversationCode conversationHistory doc forget print printed requestMoreIterations restoreVar results shape " +
    "varDiff varHistory vars vis console globalThis undefined Infinity NaN Math JSON Intl Reflect Atomics crypto performance " +
    "await break case catch class const continue debugger default delete do else enum export extends false finally for " +
    "function if implements import in instanceof interface let new null package private protected public return static " +
    "super switch this throw true try typeof var void while with yield arguments eval").split(" "),
);
