import { JSON_LIMITS, readForeignJson } from "./read_foreign_json.ts";

/** Parses JSON; undefined, which JSON cannot express, if the text is not valid JSON or has too many values. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return readForeignJson(text, { ...JSON_LIMITS, depth: Infinity });
  } catch {
    return undefined;
  }
}
