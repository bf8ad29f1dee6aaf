import { IMAGE_NAME } from "./_image_name.ts";
import { pathWord } from "./_path_word.ts";

/** `@path` of an image in text. */
export interface AtWord {
  readonly path: string;
  /** Its position, including the `@`. */
  readonly start: number;
  readonly end: number;
}

const AT = /(?<![^\s(])@/g;
const SENTENCE = /[.,;:!?)\]]+$/;
/** Each unclosed word is read up to the length limit: text that is full of them was not typed. */
const MOST_OPEN = 100;

/** Images that text names: `@shot.png`, `@"my shot.png"`, `@my\ shot.png`. */
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
