import type { RunningBot, TelegramRequest } from "../../channels/channel.ts";
import { openTelegram } from "../../channels/telegram/open_telegram.ts";
import { ConfigError } from "../../domain/errors.ts";
import { isLoopback } from "../../domain/kit/addresses.ts";
import { openSession, type SessionParts } from "../session/open_session.ts";
import { botSettings } from "./bot_settings.ts";
import { readService } from "./read_service.ts";
import { telegramToken } from "./telegram_token.ts";

const NO_TOKEN =
  "Cannot start the bot: there is no token; create one with @BotFather of Telegram and save it with vis auth " +
  "login telegram (or VIS_TELEGRAM_TOKEN)";

/** Runs the Telegram bot with its own sessions. Throws `ConfigError`, `UsageError` and `StoreError`; nothing is left
 * open then. */
export async function telegram(given: TelegramRequest, parts: SessionParts): Promise<RunningBot> {
  const { tokenFile, deleteWebhook = false, onNote, signal, ...rest } = given;
  const { request, settings, notes: ofProfile } = await readService(rest, parts);
  const { telegram: config } = settings.config;
  const token = await telegramToken({ tokenFile }, settings);
  if (token === null) throw new ConfigError(NO_TOKEN);
  const bot = await openTelegram({
    ...botSettings(request, { settings, parts }),
    ...{ deleteWebhook, signal },
    token: token.token,
    webhookUrl: null,
    note: onNote,
    open: (model) => openSession(model === null ? request : { ...request, model }, parts),
  });
  const notes = [
    `token from ${token.from}`,
    ...ofProfile,
    ...inTheClear(config.apiUrl),
    ...bot.notes,
    allowedNote(config.allow),
  ];
  return { ...bot, notes };
}

function allowedNote(allow: readonly number[]): string {
  if (allow.length > 0) return `${allow.length} allowed`;
  return "nobody is allowed yet: write to the bot, which replies with the command to run (vis telegram allow ID)";
}

function inTheClear(apiUrl: string): readonly string[] {
  const { protocol, hostname } = new URL(apiUrl);
  if (protocol === "https:" || isLoopback(hostname)) return [];
  return [`telegram.apiUrl is not https: the token is sent to ${hostname} unencrypted`];
}
