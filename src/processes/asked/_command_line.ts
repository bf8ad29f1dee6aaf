/** Programs with their arguments, in order; or why the text may mean something else to a shell. */
export type CommandLine =
  | { readonly parts: readonly (readonly string[])[] }
  | { readonly opaque: string };

/** Shells treat these as syntax where a command begins. */
const RESERVED = new Set(
  "if then else elif fi do done case esac while until for in select function time coproc repeat foreach end nocorrect noglob"
    .split(" "),
);
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
/** A redirection that opens no file of the workspace, up to the end of its word. */
const REDIRECTION = /(?:2>&1|[12]?> ?\/dev\/null|< ?\/dev\/null)(?=[ \t\n;|&]|$)/y;
/** Separates commands. */
const OPERATOR = /&&|\|\||[;|\n]/y;
/** Parts of a word that every shell takes as they are; the quoted ones lose their quotes. */
const PIECE = /([\w\-./:=,+@%^]+)|'([\x20-\x26\x28-\x7e]*)'|"([\x20\x23\x25-\x5b\x5d-\x5f\x61-\x7e]*)"/y;

/** Reads a command line that is plain: literal words joined by `&&`, `||`, `;`, `|` and line breaks, so that every shell
 * runs these programs with these arguments and nothing else. */
export function readCommandLine(text: string): CommandLine {
  const parts: string[][] = [];
  let words: string[] = [];
  /** Whether the last operator needs a command after it. */
  let wants = true;
  /** Whether the current command has a redirection. */
  let redirected = false;
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found;
  };
  while (at < text.length) {
    if (take(/[ \t]+/y)) continue;
    const operator = take(OPERATOR)?.[0];
    if (operator !== undefined) {
      if (words.length === 0) {
        // Blank lines are allowed everywhere; another operator needs a command before it.
        if (operator === "\n" && !redirected) continue;
        return {
          opaque: redirected ? "it redirects without a command" : `it has ${shown(operator)} without a command`,
        };
      }
      parts.push(words);
      words = [];
      redirected = false;
      wants = operator !== ";" && operator !== "\n";
      continue;
    }
    if (take(REDIRECTION)) {
      redirected = true;
      continue;
    }
    const word = readWord(take);
    if (word === null) return { opaque: `it has ${shown(text.charAt(at))}` };
    const isFirst = words.length === 0;
    if (isFirst && redirected) return { opaque: "it redirects before its command" };
    if (isFirst && (RESERVED.has(word) || ASSIGNMENT.test(word) || !/^[\w./]/.test(word))) {
      return { opaque: `it begins a command with ${word === "" ? "an empty word" : word}` };
    }
    if (word.startsWith("=")) return { opaque: `it has the word ${word}` };
    words.push(word);
  }
  if (redirected && words.length === 0) return { opaque: "it redirects without a command" };
  if (words.length > 0) parts.push(words);
  else if (wants) return { opaque: parts.length === 0 ? "it has no command" : "it ends with an operator" };
  return { parts };
}

/** A word up to a blank, an operator or the end; null if another character follows, where `take` then stands. */
function readWord(take: (pattern: RegExp) => RegExpExecArray | null): string | null {
  let word: string | null = null;
  for (;;) {
    const piece = take(PIECE);
    if (!piece) break;
    word = (word ?? "") + (piece[1] ?? piece[2] ?? piece[3] ?? "");
  }
  return word !== null && take(/(?=[ \t\n;|]|&&|$)/y) ? word : null;
}

function shown(text: string): string {
  if (text === "\n") return "a line break";
  if (text === "'" || text === '"') return `${text} around text that a shell may change`;
  return /^[\x21-\x7e]+$/.test(text) ? text : "a character that is not plain ASCII";
}
