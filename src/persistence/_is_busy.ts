/** Whether SQLite refused because another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && /^database (table |schema )?is locked/.test(error.message);
}
