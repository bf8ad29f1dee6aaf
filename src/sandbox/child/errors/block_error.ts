import type { BlockError } from "../../../domain/query/query_schemas.ts";
import { mapOffset, offsetOf } from "../syntax/position_map.ts";
import { type HintFacts, hintOf } from "./hints.ts";
import { positionError } from "./position_error.ts";
import type { RanBlock, RanBlocks } from "./ran_blocks.ts";
import { sourcePosition } from "./source_position.ts";
import type { ThrownError, ThrownFrame } from "./thrown_error.ts";

const MAX_STACK = 2000;

/** Describes what was thrown, with positions in the model's text. Runs in the compiler's context, where no block has
 * replaced anything. Line and column
 * refer to the block that ran. If the error comes from a function of an earlier block, the excerpt shows that place
 * too. */
export function blockError(
  thrown: ThrownError,
  { block, blocks, hints }: {
    readonly block: RanBlock;
    readonly blocks: RanBlocks;
    readonly hints?: Omit<HintFacts, "source" | "whole">;
  },
): BlockError {
  const { name } = thrown;
  const frames = thrown.frames.flatMap((frame) => {
    const ran = frame.file === block.file ? block : blocks.find(frame.file);
    return ran ? [{ frame, ran }] : [];
  });
  const stack = frames.map((found) => stackLine(found, block)).join("\n").slice(0, MAX_STACK);
  const here = frames.find(({ ran }) => ran === block), [first] = frames;
  const own = here ? errorAt(thrown, here) : null;
  const origin = first && first.ran !== block ? originText(thrown, first) : "";
  const hint = hints
    ? hintOf(thrown.message, { ...hints, whole: block.source, source: sourceFrom(block.source, own?.line ?? null) })
    : "";
  const message = hint === "" ? thrown.message : `${thrown.message} (${hint})`;
  const excerpt = [own?.excerpt ?? "", origin].filter((part) => part !== "").join("\n");
  return { name, message, line: own?.line ?? null, column: own?.column ?? null, excerpt, stack };
}

function sourceFrom(source: string, line: number | null): string {
  return line === null ? source : source.split("\n").slice(line - 1).join("\n");
}

interface Found {
  readonly frame: ThrownFrame;
  readonly ran: RanBlock;
}

function errorAt(thrown: ThrownError, { frame, ran }: Found): BlockError {
  return positionError(thrown, { source: ran.source, offset: mapOffset(ran.map, offsetOf(ran.code, frame)) });
}

function originText(thrown: ThrownError, found: Found): string {
  const { line, excerpt } = errorAt(thrown, found);
  const { where } = found.frame;
  return `thrown in ${where ? `${where}, ` : ""}${found.ran.label}, line ${line}:\n${excerpt}`;
}

function stackLine({ frame, ran }: Found, block: RanBlock): string {
  const { line, column } = sourcePosition(frame, ran);
  const place = ran === block ? `${line}:${column}` : `${ran.label}, ${line}:${column}`;
  return `at ${frame.where ? `${frame.where} ` : ""}(${place})`;
}
