import type { BranchOfConversation, Conversations } from "./conversations.ts";

/** For requests of branches that have forks, returns the numbers in their branch, by `queryId`. */
export async function forkNumbers(
  conversations: Pick<Conversations, "queries">,
  branches: readonly BranchOfConversation[],
): Promise<ReadonlyMap<string, number>> {
  const parents = new Set(branches.map(({ parentBranchId }) => parentBranchId));
  const numbers = new Map<string, number>();
  for (const parent of branches.filter(({ branchId }) => parents.has(branchId))) {
    for (const [at, { queryId }] of (await conversations.queries(parent)).entries()) numbers.set(queryId, at + 1);
  }
  return numbers;
}
