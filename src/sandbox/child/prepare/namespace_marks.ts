import { applyEdits, type SourceEdit } from "../syntax/edits.ts";
import type { PositionMap } from "../syntax/position_map.ts";

/** A namespace of the text, by the name of the function that stands in its place while types are stripped. */
export interface Marked {
  readonly text: string;
  readonly map: PositionMap;
  /** Marker to the parts of the name: `A.B` opens two namespaces. */
  readonly paths: ReadonlyMap<string, readonly string[]>;
}

const SPACE = String.raw`(?:\s|/\*[\s\S]*?\*/|//[^\n]*\n)*`;
const NAME = String.raw`[\p{ID_Start}_$][\p{ID_Continue}$]*`;
const HEADER = new RegExp(
  String
    .raw`(?<![\p{ID_Continue}$.#]|\bdeclare\s+)(?:namespace|module)(?:[^\S\n]|/\*[^\n]*?\*/)+(${NAME}(?:${SPACE}\.${SPACE}${NAME})*)${SPACE}\{`,
  "gu",
);

/** The stripper takes a namespace for a type and drops it. `namespace A {` becomes `function marker(){`, where it
 * does what it should. Found by its look: text in a string may look the same, and is found out when what comes is
 * parsed (`isMarker` says which of them are asked for then). Null where there is none. */
export function markNamespaces(text: string, isMarker: (marker: string) => boolean): Marked | null {
  let prefix = "namespace\u200d";
  while (text.includes(prefix)) prefix += "\u200d";
  const edits: SourceEdit[] = [], paths = new Map<string, readonly string[]>();
  for (const found of text.matchAll(HEADER)) {
    const marker = `${prefix}${found.index}`;
    if (!isMarker(marker)) continue;
    const [header, name = ""] = found;
    const lines = header.replace(/[^\n]/g, "");
    edits.push({ start: found.index, end: found.index + header.length, text: `function ${marker}(){${lines}` });
    paths.set(marker, withoutComments(name).split("."));
  }
  return paths.size > 0 ? { ...applyEdits(text, edits), paths } : null;
}

function withoutComments(name: string): string {
  return name.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*\n|\s/g, "");
}
