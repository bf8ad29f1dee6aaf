import type { Conversations } from "../../../conversation/conversations.ts";
import { type IterationSummary, step } from "./_step.ts";
import type { Query } from "./_turns.ts";

/** Reads iterations for the list. */
export async function readSteps(
  conversations: Conversations,
  { query, after, limit }: { readonly query: Query; readonly after: number; readonly limit: number },
): Promise<readonly IterationSummary[]> {
  return (await conversations.iterations(query.queryId, { after, limit })).map(step);
}
