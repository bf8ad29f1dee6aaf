/** The message of an error; anything else that was thrown, as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The same, for use after a colon: starts in lower case unless the first word is a name. */
export function reasonOf(error: unknown): string {
  // deno-lint-ignore vis/no-message-parsing -- only its first letter
  return messageOf(error).replace(/^[A-Z](?=[a-z]* )/, (first) => first.toLowerCase());
}
