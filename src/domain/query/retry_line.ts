/** What a user is told before a model is asked again: when, for which time, and why. */
export function retryLine(
  { reason, waitMs, attempt }: { readonly reason: string; readonly waitMs: number; readonly attempt: number },
): string {
  return `retrying in ${Math.max(1, Math.round(waitMs / 1000))} s (try ${attempt}): ${reason}`;
}
