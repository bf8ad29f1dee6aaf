import { aborted } from "../../../domain/kit/concurrency.ts";
import { backoff } from "./backoff.ts";
import type { PollerOptions } from "./poll_updates.ts";
import { TelegramError } from "./telegram_error.ts";
import { UPDATE_KINDS } from "./update_kinds.ts";

export interface Webhook {
  /** The public URL for Telegram. */
  readonly url: string;
  /** The secret that Telegram must send along. */
  readonly secret: string;
}

/** Registers the webhook with Telegram, retrying as needed, and waits for the signal. Rejects with `TelegramError` if
 * Telegram refuses the address. The webhook stays when the bot ends, so that Telegram keeps updates meanwhile. */
export async function setWebhook(
  { url, secret }: Webhook,
  { api, clock, signal, note }: Pick<PollerOptions, "api" | "clock" | "signal" | "note">,
): Promise<void> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      // One connection, so that messages arrive in order.
      const payload = { url, secret_token: secret, max_connections: 1 };
      const asked = { ...payload, allowed_updates: UPDATE_KINDS };
      await api.call((wire, own) => wire.setWebhook(asked, own), { signal });
      return await aborted(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TelegramError) || error.code !== "network" && error.code !== "flood") throw error;
      if (failures === 1) note(`${error.message}; trying again`);
      await clock.sleep(Math.max(error.retryAfterMs, backoff(failures, clock.random)), signal).catch(() => {});
    }
  }
}
