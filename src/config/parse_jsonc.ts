import { ConfigError, messageOf } from "../domain/errors.ts";
import { oneLine } from "../domain/kit/text.ts";

/** Parses a file of JSON with comments and trailing commas; throws `ConfigError` that names the file. */
export function parseJsonc(file: { readonly path: string; readonly text: string }): unknown {
  try {
    return JSON.parse(stripComments(file.text.replace(/^\ufeff/, "")));
  } catch (error) {
    const why = messageOf(error);
    throw new ConfigError(`Cannot read ${file.path}: ${oneLine(why, 300)}`, { code: "syntax" });
  }
}

/** Blanks out comments and trailing commas outside strings, so that positions in errors stay correct. */
function stripComments(text: string): string {
  const blank = (found: string): string => found.replace(/[^\n]/g, " ");
  return text
    .replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) => found[0] === '"' ? found : blank(found))
    .replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, (found) => found[0] === '"' ? found : " ");
}
