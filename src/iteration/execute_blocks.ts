import { blockResult } from "../domain/query/block_result.ts";
import type { StoredBlock } from "../persistence/store/iteration_store.ts";
import type { JournalEntry } from "../prompt/context/context_parts.ts";
import type { ReplyBlock } from "../prompt/reply/reply.ts";
import type { IterationFrame } from "./iteration.ts";

export interface Executed {
  readonly entries: readonly JournalEntry[];
  readonly blocks: readonly StoredBlock[];
  /** Stray errors and rejections, for the next context. */
  readonly notes: readonly string[];
}

/** Runs the blocks in order; an error in one does not stop the next, cancellation does. Host calls wait for
 * `stored`. */
export async function executeBlocks(
  frame: IterationFrame,
  { blocks, iteration, stored: rowStored }: {
    readonly blocks: readonly ReplyBlock[];
    readonly iteration: number;
    readonly stored?: Promise<unknown>;
  },
): Promise<Executed> {
  const entries: JournalEntry[] = [];
  const stored: StoredBlock[] = [];
  const notes: string[] = [];
  for (const [index, block] of blocks.entries()) {
    const code = block.expr;
    if (frame.signal.aborted) {
      const result = blockResult({ outcome: "cancelled" });
      stored.push({ code, result, reads: [], literal: false, value: null, saved: [] });
      continue;
    }
    frame.emitter.send({ type: "block_started", block: index, code });
    const report = await frame.environment.run({
      code,
      iteration,
      index,
      deadlineMs: deadline(block.timeMs, frame.deadlines),
      signal: frame.signal,
    }, rowStored ? { stored: rowStored } : {});
    const { result, reads, madeFrom, literal, value, saved } = report;
    frame.emitter.send({ type: "block_finished", block: index, result });
    entries.push({ code, result, value });
    stored.push({ code, result, reads, madeFrom, literal, value, saved });
    notes.push(...report.notes);
  }
  return { entries, blocks: stored, notes };
}

/** The model's estimate, clamped to the operator's bounds. */
export function deadline(timeMs: number | null, bounds: IterationFrame["deadlines"]): number {
  if (timeMs === null || !Number.isFinite(timeMs)) return bounds.defaultMs;
  return Math.min(bounds.maxMs, Math.max(bounds.minMs, timeMs));
}
