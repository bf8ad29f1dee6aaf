import { applyEdits, type SourceEdit } from "../syntax/edits.ts";
import { freeSuffix } from "../syntax/free_suffix.ts";
import type { PositionMap } from "../syntax/position_map.ts";

/** A namespace in the text, by the name of the function that replaces it while types are stripped. */
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

/** The stripper treats a namespace as a type and drops it. `namespace A {` therefore becomes `function marker(){`,
 * which it handles correctly. Namespaces are found by pattern; text in a string may match too, which is detected when
 * the result is parsed (`isMarker` then says which ones are real). Null if there is none. */
export function markNamespaces(text: string, isMarker: (marker: string) => boolean): Marked | null {
  const prefix = `namespace${freeSuffix(text)}`;
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
