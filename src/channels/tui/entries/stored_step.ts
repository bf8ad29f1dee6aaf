import type { Conversations } from "../../../conversation/conversations.ts";
import { clip } from "../../../domain/kit/text.ts";
import { BlockTally, storedDiffs } from "../../../domain/query/calls.ts";
import { outcomeOf } from "../../../domain/query/outcomes.ts";
import { boundedResult, newBlock, newStep, type Step, storedChildren } from "../../../domain/query/query_progress.ts";

type StoredIteration = Awaited<ReturnType<Conversations["iterations"]>>[number];

const MOST_CHARS = 20_000;

/** An iteration from its row; large texts are limited to what can be viewed. */
export function storedStep(iteration: StoredIteration): Step {
  const { position, steered, thinking, blocks, error, metadata, status } = iteration;
  const outcome = outcomeOf(metadata) ?? (status === "error" ? "failed" : null);
  const pending = Array.isArray(metadata["pendingBlocks"]) && blocks.length === 0 ? metadata["pendingBlocks"] : [];
  return {
    ...newStep(position + 1),
    steered: steered.map((text) => clip(text, MOST_CHARS)),
    thinking: clip(thinking, MOST_CHARS),
    blocks: [
      ...blocks.map(({ code, result }, at) => ({
        ...newBlock(),
        code: clip(code, MOST_CHARS),
        tally: BlockTally.of(result.calls),
        diffs: storedDiffs(metadata, at),
        result: boundedResult(result),
      })),
      ...pending.map((code) => ({ ...newBlock(), code: clip(String(code), MOST_CHARS) })),
    ],
    children: storedChildren(metadata),
    outcome,
    reason: error,
  };
}
