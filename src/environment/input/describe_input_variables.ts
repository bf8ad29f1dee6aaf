const PREVIEW_CHARS = 300;

/** What the model is told of a variable that a query is given: one line of text, so that nothing in it looks like a part
 * of the message, and as long for any size. */
export function describeInputVariables(
  name: string,
  { what, label, preview }: { readonly what: string; readonly label: string; readonly preview: string },
): string {
  const shown = JSON.stringify(preview.slice(0, PREVIEW_CHARS).toWellFormed()).slice(0, PREVIEW_CHARS + 2);
  return `[The variable ${name} holds ${
    label.slice(0, 200)
  }: ${what}. Work on it in code; never print all of it. It begins: ${shown}]`;
}
