import type { BlockResult } from "../domain/query/block_result.ts";
import type { VariableIndex } from "./variable_index.ts";

/** Names that are lost when the child ended during a block. What earlier blocks defined is restored to its state after
 * them, so only the block's own names and values that cannot be kept are lost. */
export function missingNames({ lost }: BlockResult, index: VariableIndex): string[] {
  return lost.filter((name) => {
    const head = index.get(name);
    return head?.scope !== "live" || head.kind === "lost";
  });
}
