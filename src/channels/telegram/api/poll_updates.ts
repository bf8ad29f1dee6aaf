import { Cancelled } from "../../../domain/errors.ts";
import { backoff } from "./backoff.ts";
import type { BotApi } from "./bot_api.ts";
import type { BotClock } from "./bot_clock.ts";
import { isUpdate } from "./is_update.ts";
import { TelegramError } from "./telegram_error.ts";
import { UPDATE_KINDS } from "./update_kinds.ts";
import type { Update } from "./wire.ts";

const POLL_SECONDS = 50;
/** Small enough that the longest messages of a batch fit one row of the inbox. */
const BATCH = 50;

export interface PollerOptions {
  readonly api: BotApi;
  readonly clock: BotClock;
  readonly signal: AbortSignal;
  /** The highest update accepted before; null if unknown. */
  readonly mark: () => Promise<number | null>;
  /** Stores the updates; they are confirmed to Telegram only after it resolves. */
  readonly accept: (updates: readonly Update[]) => Promise<void>;
  readonly note: (text: string) => void;
}

/** Polls for updates until the signal aborts, through connection losses and flood limits. Rejects with `TelegramError`
 * if polling again is useless, and with the errors of `accept`. */
export async function pollUpdates({ api, clock, signal, mark, accept, note }: PollerOptions): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const last = await mark();
      const updates = await getUpdates(api, { offset: last === null ? null : last + 1, signal });
      if (failures > 0) note("Telegram is reachable again");
      failures = 0;
      if (updates.length > 0) await accept(updates);
    } catch (error) {
      if (error instanceof Cancelled) return;
      if (!(error instanceof TelegramError) || error.code !== "network" && error.code !== "flood") throw error;
      failures++;
      if (failures === 1) note(`${error.message}; trying again`);
      const wait = Math.max(error.retryAfterMs, error.code === "flood" ? 0 : backoff(failures, clock.random));
      await clock.sleep(wait, signal).catch(() => {});
    }
  }
}

async function getUpdates(
  api: BotApi,
  { offset, signal }: { readonly offset: number | null; readonly signal: AbortSignal },
): Promise<readonly Update[]> {
  const updates: unknown = await api.call((wire, own) =>
    wire.getUpdates({
      timeout: POLL_SECONDS,
      limit: BATCH,
      allowed_updates: [...UPDATE_KINDS],
      ...(offset === null ? {} : { offset }),
    }, own), { signal, timeoutMs: (POLL_SECONDS + 20) * 1000 });
  if (Array.isArray(updates) && updates.every(isUpdate)) return updates;
  throw new TelegramError("Cannot read updates: Telegram sent an unexpected response", { code: "network" });
}
