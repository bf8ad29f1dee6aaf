/** Parses JSON; undefined, which JSON cannot express, if the text is not valid JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
