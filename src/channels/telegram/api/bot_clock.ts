import { type Clock, REAL_CLOCK } from "../../../domain/kit/time.ts";

/** The bot's source of time and randomness. */
export interface BotClock extends Clock {
  /** From 0 to 1. */
  random(): number;
}

export const REAL_BOT_CLOCK: BotClock = { ...REAL_CLOCK, random: Math.random };
