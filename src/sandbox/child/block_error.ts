import type { BlockError } from "../../domain/block_result.ts";
import { positionError } from "./prepare_block_error.ts";
import { sourcePosition } from "./prepare_block_position.ts";
import { mapOffset, offsetOf, type PositionMap } from "./rewrite_map.ts";
import type { ThrownError, ThrownFrame } from "./thrown_error.ts";

const MAX_STACK = 2000;

/** A block that was handed to the worker. */
export interface RanBlock {
  /** File name that its code was compiled with. */
  readonly file: string;
  readonly code: string;
  readonly map: PositionMap;
  /** The text that the model wrote. */
  readonly source: string;
}

/**
 * What the worker says was thrown, in positions of the model's text. Runs on the child's main thread, where no block
 * has replaced anything; what comes from the worker is checked as text and numbers only.
 */
export function blockError(thrown: ThrownError, block: RanBlock): BlockError {
  const frames = thrown.frames.map((frame) => mapped(frame, block));
  const stack = frames.map(({ where, file, line, column }) => {
    const place = file === block.file ? `${line}:${column}` : `${file}:${line}:${column}`;
    return `at ${where ? `${where} ` : ""}(${place})`;
  }).join("\n").slice(0, MAX_STACK);
  const { name, message } = thrown;
  const first = thrown.frames.find(({ file }) => file === block.file);
  if (!first) return { name, message, line: null, column: null, excerpt: "", stack };
  const offset = mapOffset(block.map, offsetOf(block.code, first));
  return { ...positionError({ name, message }, { source: block.source, offset }), stack };
}

function mapped(frame: ThrownFrame, block: RanBlock): ThrownFrame {
  return frame.file === block.file ? { ...frame, ...sourcePosition(frame, block) } : frame;
}
