import { sucraseLoader } from "../child/prepare/sucrase_loader.ts";
import { sucraseText } from "./sucrase_text.ts";

/** Turns the source of a module into plain JavaScript: an executable does not strip types when it imports one. */
export function typeStripper(): (source: string, path: string) => string {
  const sucrase = sucraseLoader({ text: sucraseText() });
  return (source, path) =>
    /\.[mc]?ts$/.test(path)
      ? sucrase()(source, { transforms: ["typescript"], disableESTransforms: true, filePath: path }).code
      : source;
}
