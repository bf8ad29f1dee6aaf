import { outcomeOf } from "../../src/domain/query/outcomes.ts";
import type { Store } from "../../src/persistence/store.ts";

export interface Waste {
  readonly refusedFinals: number;
  readonly repeatedBlocks: number;
}

export async function countWaste(store: Store, queryIds: readonly string[]): Promise<Waste> {
  let refusedFinals = 0, repeatedBlocks = 0;
  for (const queryId of queryIds) {
    const seen = new Set<string>();
    for (const { iterationId, blocks, metadata } of await store.iterations(queryId)) {
      if (outcomeOf(metadata) === "refused") refusedFinals++;
      for (const { code } of blocks) {
        if (seen.has(code.trim())) repeatedBlocks++;
        seen.add(code.trim());
      }
      const children = await store.subQueries(iterationId);
      const below = await countWaste(store, children.map((child) => child.queryId));
      refusedFinals += below.refusedFinals;
      repeatedBlocks += below.repeatedBlocks;
    }
  }
  return { refusedFinals, repeatedBlocks };
}
