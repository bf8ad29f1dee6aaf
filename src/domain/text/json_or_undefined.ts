/** What a text says as JSON; undefined, which no JSON says, where it is none. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
