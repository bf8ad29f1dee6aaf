import { messageOf } from "../../domain/errors.ts";
import { sucraseLoader } from "../child/prepare/sucrase_loader.ts";
import { sucraseText } from "./sucrase_text.ts";

/** Turns the source of a module into plain JavaScript: an executable does not strip types when it imports one. */
export function typeStripper(): (source: string, path: string) => string {
  const sucrase = sucraseLoader({ text: sucraseText() });
  return (source, path) => {
    if (!/\.[mc]?ts$/.test(path)) return source;
    try {
      return sucrase()(source, { transforms: ["typescript"], disableESTransforms: true, filePath: path }).code;
    } catch (error) {
      throw atLine(error, path);
    }
  };
}

/** Sucrase names the file before its message and the place after it. */
function atLine(error: unknown, path: string): unknown {
  // deno-lint-ignore vis/no-message-parsing -- there is no other text of the fault
  const [, what, line] = /^Error transforming .*?: (.*?)\s*\((\d+):\d+\)$/s.exec(messageOf(error)) ?? [];
  return what === undefined ? error : new SyntaxError(`${what} (${path}:${line})`);
}
