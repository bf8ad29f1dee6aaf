import type { BlockResult } from "../../domain/block_result.ts";
import { clip } from "../../domain/clip.ts";

const MOST_CHARS = 20_000;

/** A result of which no more is kept than can be looked at; the whole of it is in the database. */
export function boundedResult(result: BlockResult): BlockResult {
  return {
    ...result,
    stdout: clip(result.stdout, MOST_CHARS),
    stderr: clip(result.stderr, MOST_CHARS),
    preview: clip(result.preview, MOST_CHARS),
  };
}
