import type { IterationResult } from "./iteration.ts";
import { outcomeOf } from "../domain/query/query_event.ts";
import type { StoredIteration } from "../persistence/store/iteration_store.ts";

/** What the loop gets for an iteration that was stored. Only what makes it an unusable reply is not kept, so counting
 * such replies begins anew. */
export function storedResult(stored: StoredIteration): Exclude<IterationResult, { readonly kind: "cancelled" }> {
  const { metadata, thinking, error } = stored;
  const notes: unknown = metadata["notes"];
  const common = {
    model: "",
    thinking,
    entries: stored.blocks.map(({ code, result, value }) => ({ code, result, value })),
    repairs: [],
    next: { model: null, reasoning: null },
    sandboxNotes: Array.isArray(notes) ? notes.map(String) : [],
  };
  switch (outcomeOf(metadata)) {
    case "executed":
      return { ...common, kind: "executed" };
    case "refused":
      return { ...common, kind: "refused", reason: error ?? "", unsupported: null };
    case "empty":
      return { ...common, kind: "empty", fault: "idle" };
    default: {
      const reason = error ?? "every block failed";
      const fault = common.entries.length > 0 ? null : "call";
      return {
        ...common,
        kind: "failed",
        reason,
        fatal: false,
        temporary: false,
        fault,
        refused: null,
        unsupported: null,
        prose: null,
      };
    }
  }
}
