import { IMAGE_NAME } from "./_image_name.ts";
import { pathWord } from "./_path_word.ts";

const MOST_CHARS = 8_000;
// deno-lint-ignore no-control-regex
const COMMANDS = /[\u0000-\u001f\u007f]/;

/** Image paths, if pasted text consists of nothing else, as terminals paste files that are dropped on them: quoted,
 * with escaped blanks, as `file:` URLs, or plain. One list per way to read the text, the likeliest first. A name
 * without a folder is an ordinary word. */
export function pastedPaths(text: string): readonly (readonly string[])[] {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > MOST_CHARS) return [];
  const ways = [words(trimmed), trimmed.split("\n").map((line) => line.trim())];
  return ways.filter((paths) => paths.length > 0 && paths.every(isPath));
}

function isPath(path: string): boolean {
  return IMAGE_NAME.test(path) && /[\\/]/.test(path) && !COMMANDS.test(path) && !/^https?:/i.test(path);
}

/** Empty if a quote is left open. */
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
