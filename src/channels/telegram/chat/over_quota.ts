import type { BotParts } from "./bot_parts.ts";
import { userLabel } from "./user_label.ts";

/** Why a user may ask for nothing more today (UTC), null where they may. */
export async function overQuota(
  userId: number,
  { quota, sessions, clock }: Pick<BotParts, "quota" | "sessions" | "clock">,
): Promise<string | null> {
  const { queriesPerDay, costUsdPerDay } = quota;
  if (queriesPerDay === null && costUsdPerDay === null) return null;
  const { conversations } = await sessions.main();
  const used = await conversations.records.labelUse(new Date(clock.now()).setUTCHours(0, 0, 0, 0));
  const own = used.find(({ label }) => label === userLabel(userId));
  if (queriesPerDay !== null && (own?.queries ?? 0) >= queriesPerDay) {
    return `You have asked ${queriesPerDay} times today, which is the limit (server.quota); it ends at 00:00 UTC`;
  }
  if (costUsdPerDay === null || (own?.costUsd ?? 0) < costUsdPerDay) return null;
  return `Today's answers have cost you $${costUsdPerDay}, which is the limit (server.quota); it ends at 00:00 UTC`;
}
