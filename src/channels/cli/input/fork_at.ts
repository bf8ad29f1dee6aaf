import type { Conversations } from "../../../conversation/conversations.ts";
import type { BranchPoint } from "../../../domain/records/conversations.ts";

/** Parses ID or ID@ITERATION like `findPoint`. */
export async function forkPoint(conversations: Conversations, place: string): Promise<BranchPoint> {
  const cut = place.indexOf("@");
  const [id, at] = cut === -1 ? [place, null] : [place.slice(0, cut), place.slice(cut + 1)];
  return (await conversations.records.point(id, at)).point;
}
