export interface AtWord {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

const AT = /(?<![^\s(])@/g;
const SENTENCE = /[.,;:!?)\]]+$/;
/** Vis reads each unclosed word up to the length limit, so the search stops after this many unclosed words. */
const MOST_OPEN = 100;

export function atWords(text: string): readonly AtWord[] {
  const words: AtWord[] = [];
  let done = 0;
  let open = 0;
  for (const { index: start } of text.matchAll(AT)) {
    if (start < done) continue;
    const found = pathWord(text, start + 1);
    if (found === null && ++open > MOST_OPEN) break;
    if (found === null) continue;
    done = found.end;
    const path = found.word.replace(SENTENCE, "");
    if (IMAGE_NAME.test(path)) words.push({ path, start, end: found.end - (found.word.length - path.length) });
  }
  return words;
}

const MOST_CHARS = 8_000;
// deno-lint-ignore no-control-regex
const COMMANDS = /[\u0000-\u001f\u007f]/;

/** Terminals paste the paths of dropped files in several forms. Returns a list for each way to read the text as paths of
 * images, the likeliest first. */
export function pastedPaths(text: string): readonly (readonly string[])[] {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > MOST_CHARS) return [];
  const ways = [words(trimmed), trimmed.split("\n").map((line) => line.trim())];
  return ways.filter((paths) => paths.length > 0 && paths.every(isPath));
}

function isPath(path: string): boolean {
  return IMAGE_NAME.test(path) && /[\\/]/.test(path) && !COMMANDS.test(path) && !/^https?:/i.test(path);
}

function words(text: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const next = pathWord(text, at);
    if (next === null) return [];
    if (next.word !== "") found.push(next.word);
    at = next.end;
  }
  return found;
}

const BLANK = /[ \t\n]/;
const GUARDED = /[^\p{L}\p{N}_]/u;

/** Linux refuses longer paths. */
const MOST_WORD_CHARS = 4_096;

function pathWord(text: string, from: number): { readonly word: string; readonly end: number } | null {
  let word = "";
  let quote = "";
  let at = from;
  for (; at < text.length && at - from < MOST_WORD_CHARS; at++) {
    const [char = "", next = ""] = [text[at], text[at + 1]];
    if (quote === "" && BLANK.test(char)) break;
    if (char === quote) quote = "";
    else if (quote === "" && (char === '"' || char === "'")) quote = char;
    else if (char === "\\" && quote !== "'" && GUARDED.test(next)) {
      word += next;
      at++;
    } else word += char;
  }
  return quote === "" && at - from < MOST_WORD_CHARS ? { word, end: at } : null;
}

const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;
