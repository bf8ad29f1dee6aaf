import { mapOffset, offsetOf, type Position, positionAt, type PositionMap } from "../syntax/position_map.ts";

/** Maps a position in the code of a prepared block (a stack frame) to the text that the model wrote. */
export function sourcePosition(
  position: Position,
  block: { readonly code: string; readonly map: PositionMap; readonly source: string },
): Position {
  return positionAt(block.source, mapOffset(block.map, offsetOf(block.code, position)));
}
