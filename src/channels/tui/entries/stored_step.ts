import type { Conversations } from "../../../conversation/conversations.ts";
import { clip } from "../../../domain/text/clip.ts";
import { outcomeOf } from "../../../domain/query/query_event.ts";
import { boundedResult, newBlock, newStep, type Step } from "../../../domain/query/query_progress.ts";

type StoredIteration = Awaited<ReturnType<Conversations["iterations"]>>[number];

const MOST_CHARS = 20_000;

/** An iteration from its row; large texts are limited to what can be viewed. */
export function storedStep({ position, steered, thinking, blocks, error, metadata, status }: StoredIteration): Step {
  const outcome = outcomeOf(metadata) ?? (status === "error" ? "failed" : null);
  const pending = Array.isArray(metadata["pendingBlocks"]) && blocks.length === 0 ? metadata["pendingBlocks"] : [];
  return {
    ...newStep(position + 1),
    steered: steered.map((text) => clip(text, MOST_CHARS)),
    thinking: clip(thinking, MOST_CHARS),
    blocks: [
      ...blocks.map(({ code, result }) => ({
        ...newBlock(),
        code: clip(code, MOST_CHARS),
        result: boundedResult(result),
      })),
      ...pending.map((code) => ({ ...newBlock(), code: clip(String(code), MOST_CHARS) })),
    ],
    outcome,
    reason: error,
  };
}
