import type { OpenRequest, RunningBot, TelegramRequest } from "../channels/channel.ts";
import { openTelegram } from "../channels/telegram/open_telegram.ts";
import { REAL_CLOCK } from "../channels/telegram/real_clock.ts";
import { ConfigError } from "../domain/errors.ts";
import { createLog } from "../logging/log.ts";
import { lockedBy } from "./locked_by.ts";
import { lockedNote } from "./locked_note.ts";
import { openSession, type SessionParts } from "./open_session.ts";
import { AppProviderAdmin } from "./provider_admin.ts";
import { readSettings, type Settings } from "./settings.ts";
import { telegramToken } from "./telegram_token.ts";
import { tryWalls } from "./try_walls.ts";

const NO_TOKEN = "Cannot start the bot: there is no token; @BotFather of Telegram gives one, vis auth login telegram " +
  "keeps it (or VIS_TELEGRAM_TOKEN)";
/** The list of who is allowed is read again where it is older. */
const ALLOWED_MS = 1_000;

/** The bot of Telegram, with sessions of its own. Throws `ConfigError`, `UsageError` and `StoreError`; nothing is open
 * then. */
export async function telegram(given: TelegramRequest, parts: SessionParts): Promise<RunningBot> {
  const { tokenFile, profile, writable, deleteWebhook = false, onNote, signal, ...rest } = given;
  const locked = lockedBy({ profile, writable }, parts.env);
  const request: OpenRequest = { ...rest, locked };
  const settings = await readSettings(request, parts.env);
  const { telegram: config, server } = settings.config;
  const token = await telegramToken({ tokenFile }, settings);
  if (token === null) throw new ConfigError(NO_TOKEN);
  if (locked) await tryWalls(settings);
  const bot = await openTelegram({
    ...{ deleteWebhook, signal },
    token: token.token,
    apiUrl: config.apiUrl,
    clock: REAL_CLOCK,
    log: createLog("telegram"),
    note: onNote,
    shutdownMs: config.shutdownMs,
    quota: server.quota,
    models: locked ? null : () => modelNames(settings),
    allowed: allowedOf(request, { settings, parts }),
    open: (model) => openSession(model === null ? request : { ...request, model }, parts),
  });
  const notes = [
    `token from ${token.from}`,
    ...locked ? [lockedNote(locked, settings.config)] : [],
    ...inTheClear(config.apiUrl),
    ...bot.notes,
    allowedNote(config.allow),
  ];
  return { ...bot, notes };
}

/** The list as the settings have it now: it holds without a restart. One that cannot be read stays as it was. */
function allowedOf(
  request: OpenRequest,
  { settings, parts }: { readonly settings: Settings; readonly parts: SessionParts },
): () => Promise<readonly number[]> {
  let known: readonly number[] = settings.config.telegram.allow;
  let readAt = Date.now();
  return async () => {
    if (Date.now() - readAt < ALLOWED_MS) return known;
    readAt = Date.now();
    try {
      known = (await readSettings(request, parts.env)).config.telegram.allow;
    } catch (error) {
      createLog("telegram").warn("telegram_settings_not_read", { error: String(error) });
    }
    return known;
  };
}

/** As `--model` takes them, those of the provider that is used by default first. */
async function modelNames(settings: Settings): Promise<readonly string[]> {
  const reports = await new AppProviderAdmin(settings).models({ provider: null, signal: AbortSignal.timeout(10_000) });
  return reports.flatMap(({ provider, models }, at) =>
    models.map(({ name }) => at === 0 ? name : `${provider}/${name}`)
  );
}

function allowedNote(allow: readonly number[]): string {
  if (allow.length > 0) return `${allow.length} allowed`;
  return "nobody is allowed yet: write to the bot, it says what to type (vis telegram allow ID)";
}

function inTheClear(apiUrl: string): readonly string[] {
  const { protocol, hostname } = new URL(apiUrl);
  if (protocol === "https:" || /^(?:localhost|127\.|\[::1\])/.test(hostname)) return [];
  return [`telegram.apiUrl is no https: the token travels to ${hostname} in the clear`];
}
