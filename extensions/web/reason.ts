/** Why something failed, to stand behind a colon. */
export function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^[A-Z](?=[a-z]* )/, (first) => first.toLowerCase());
}
