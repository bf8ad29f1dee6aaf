import type { EnvironmentView } from "../spec.ts";

/** What a row of the log belongs to. */
export function scopeOf(
  { conversationId, currentIterationId: iterationId }: EnvironmentView,
): { readonly conversationId: string; readonly iterationId?: string } {
  return { conversationId, ...(iterationId ? { iterationId } : {}) };
}
