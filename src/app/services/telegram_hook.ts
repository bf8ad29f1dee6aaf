import type { OpenRequest, Session } from "../../channels/channel.ts";
import { REAL_BOT_CLOCK } from "../../channels/telegram/bot_api.ts";
import { type OpenedBot, openTelegram } from "../../channels/telegram/open_telegram.ts";
import { Cancelled, ConfigError } from "../../domain/errors.ts";
import { createLog } from "../../logging/log.ts";
import { openSession, type SessionParts } from "../session/open_session.ts";
import type { Settings } from "../settings/settings.ts";
import { botSettings } from "./bot_settings.ts";
import { telegramToken } from "./telegram_token.ts";

/** Longest wait at startup, since Telegram may be unreachable then. */
const FIRST_MS = 3_000;

/** The bot behind a route of the HTTP channel. */
export interface TelegramHook {
  /** Path of the route, with its handler. */
  readonly hooks: Readonly<Record<string, (request: Request) => Promise<Response>>>;
  readonly notes: readonly string[];
  close(): Promise<void>;
}

/** Starts the bot if `telegram.webhookUrl` is set; null if it is not. The hook owns its sessions with other models, but
 * not `session`. Throws `ConfigError` if the token is missing or refused. */
export async function telegramHook(
  request: OpenRequest,
  { settings, parts, session }: {
    readonly settings: Settings;
    readonly parts: SessionParts;
    readonly session: Session;
  },
): Promise<TelegramHook | null> {
  const { webhookUrl } = settings.config.telegram;
  if (webhookUrl === null) return null;
  const token = await telegramToken({}, settings);
  if (token === null) throw new ConfigError("Cannot serve the bot: telegram.webhookUrl is set, and there is no token");
  const path = new URL(webhookUrl).pathname;
  if (path === "/") throw new ConfigError(`Cannot serve the bot at ${webhookUrl}: its address needs a path of its own`);
  const abort = new AbortController();
  const log = createLog("telegram");
  const starting = openTelegram({
    ...botSettings(request, { settings, parts }),
    ...{ webhookUrl, deleteWebhook: false, signal: abort.signal, token: token.token },
    note: (text) => log.warn("telegram_note", { text }),
    open: (model) =>
      model === null
        ? Promise.resolve({ ...session, close: () => Promise.resolve() })
        : openSession({ ...request, model }, parts),
  });
  let bot: OpenedBot | null = null;
  const failed = (error: unknown): void => log.error("telegram_ended", { error: String(error) });
  const started = starting.then((opened) => {
    bot = opened;
    opened.ended.catch(failed);
  });
  started.catch((error: unknown) => error instanceof Cancelled ? undefined : failed(error));
  const late = new AbortController();
  await Promise.race([started, REAL_BOT_CLOCK.sleep(FIRST_MS, late.signal)]).finally(() => late.abort());
  return {
    hooks: { [path]: async (asked) => await bot?.receive(asked) ?? new Response("", { status: 503 }) },
    notes: [`the bot of Telegram answers at ${webhookUrl}`],
    close: async () => {
      abort.abort();
      await started.catch(() => {});
      await bot?.close();
    },
  };
}
