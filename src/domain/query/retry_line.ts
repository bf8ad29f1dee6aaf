/** The line a user sees before a model call is retried: when, which attempt, and why. */
export function retryLine(
  { reason, waitMs, attempt }: { readonly reason: string; readonly waitMs: number; readonly attempt: number },
): string {
  return `retrying in ${Math.max(1, Math.round(waitMs / 1000))} s (try ${attempt}): ${reason}`;
}
