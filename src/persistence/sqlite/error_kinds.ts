/** Whether SQLite refused because another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return says(error, /^database (table |schema )?is locked/);
}

/** Whether the file is too damaged to be used. */
export function isDamaged(error: unknown): boolean {
  return says(error, /not a database|malformed|corrupt|disk I\/O/);
}

/** Whether the file is something else. */
export function isNoDatabase(error: unknown): boolean {
  return says(error, /is not a database/);
}

/** Whether rows violate a rule of the schema; triggers name the table. */
export function breaksRule(error: unknown): error is Error {
  return says(error, /constraint failed|^expression_(state|dependency|soul):/);
}

/** Matches the message: `node:sqlite` has an error number for statements only, not for `exec` and opening. */
function says(error: unknown, words: RegExp): boolean {
  // deno-lint-ignore vis/no-message-parsing -- SQLite gives exec and opening no number
  return error instanceof Error && words.test(error.message);
}
