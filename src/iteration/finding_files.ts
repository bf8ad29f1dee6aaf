import type { JsonValue } from "../domain/kit/json.ts";

const MOST_FILES = 30;
const HEADING = /^#{1,6} +[`*]*([^\s`*:]+):\d+/gm;

/** Returns the files that the findings of a review name: in a list `findings`, or in headings such as
 * `### path:line`. */
export function findingFiles(
  { text, value }: { readonly text: string; readonly value?: JsonValue },
): readonly string[] {
  const named = value === undefined ? [...text.matchAll(HEADING)].map(([, path = ""]) => path) : listed(value);
  return [...new Set(named)].filter((path) => path !== "").slice(0, MOST_FILES);
}

function listed(value: JsonValue): readonly string[] {
  if (typeof value !== "object" || value === null || !("findings" in value)) return [];
  return [value.findings].flat().flatMap((one) =>
    typeof one === "object" && one !== null && "file" in one && typeof one.file === "string" ? [one.file] : []
  );
}
