const PREVIEW_CHARS = 300;

/** Describes an input variable of a query to the model in one line of text: nothing in it can look like part of the
 * message, and its length does not depend on the size of the value. */
export function describeInputVariables(
  name: string,
  { what, label, preview }: { readonly what: string; readonly label: string; readonly preview: string },
): string {
  const shown = JSON.stringify(preview.slice(0, PREVIEW_CHARS).toWellFormed()).slice(0, PREVIEW_CHARS + 2);
  return `[The variable ${name} holds ${
    label.slice(0, 200)
  }: ${what}. Work on it in code; never print all of it. It begins: ${shown}]`;
}
