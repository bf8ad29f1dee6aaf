/** What an error says; whatever else was thrown, as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The same, to stand behind a colon: no capital, unless the first word is a name. */
export function reasonOf(error: unknown): string {
  // deno-lint-ignore vis/no-message-parsing -- only its first letter
  return messageOf(error).replace(/^[A-Z](?=[a-z]* )/, (first) => first.toLowerCase());
}
