import { type Clock, REAL_CLOCK } from "../../../domain/kit/clock.ts";

/** Time and chance as the bot sees them. */
export interface BotClock extends Clock {
  /** From 0 to 1. */
  random(): number;
}

export const REAL_BOT_CLOCK: BotClock = { ...REAL_CLOCK, random: Math.random };
