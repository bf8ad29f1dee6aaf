import type { BlockResult } from "../../domain/query/block_result.ts";
import type { VariableIndex } from "./variable_index.ts";

/** What is gone when the child has ended under a block: what earlier blocks had defined comes back as it was after
 * them, so only the block's own names and values that cannot be kept are lost. */
export function missingNames({ lost }: BlockResult, index: VariableIndex): string[] {
  return lost.filter((name) => {
    const head = index.get(name);
    return head?.scope !== "live" || head.kind === "lost";
  });
}
