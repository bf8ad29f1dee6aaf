import { readJson } from "./read_json.ts";

/** Parses JSON; undefined, which JSON cannot express, if the text is not valid JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}
