import type { Conversation, Conversations } from "../../conversation/conversations.ts";

/** A new branch from ID or ID@ITERATION, as `findPoint` reads them. */
export async function forkAt(conversations: Conversations, place: string): Promise<Conversation> {
  const cut = place.indexOf("@");
  const [id, at] = cut === -1 ? [place, null] : [place.slice(0, cut), place.slice(cut + 1)];
  const { point } = await conversations.records.point(id, at);
  return await conversations.fork(point);
}
