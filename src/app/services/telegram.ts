import type { OpenRequest, RunningBot, Session, TelegramRequest } from "../../channels/channel.ts";
import { REAL_BOT_CLOCK } from "../../channels/telegram/bot_api.ts";
import type { OpenedBot, OpenTelegramOptions } from "../../channels/telegram/bot.ts";
import { Cancelled, ConfigError, fileFault } from "../../domain/errors.ts";
import { isLoopback } from "../../domain/kit/addresses.ts";
import { BOT_LOGIN, BOT_VARIABLE } from "../../domain/settings_section.ts";
import { createLog } from "../../logging/log.ts";
import { credentialsOf } from "../providers/build_router.ts";
import { AppProviderAdmin } from "../providers/provider_admin.ts";
import { openSession, type SessionParts } from "../session/open_session.ts";
import { readSettings, type Settings } from "../settings/settings.ts";
import { readService } from "./read_service.ts";

const NO_TOKEN = "Cannot start the bot: no token is saved; create one with @BotFather of Telegram, and save it with " +
  "vis auth login telegram or in VIS_TELEGRAM_TOKEN";

export async function telegram(given: TelegramRequest, parts: SessionParts): Promise<RunningBot> {
  const { tokenFile, deleteWebhook = false, onNote, signal, ...rest } = given;
  const { request, settings, notes: ofProfile } = await readService(rest, parts);
  const { telegram: config } = settings.config;
  const token = await telegramToken({ tokenFile }, settings);
  if (token === null) throw new ConfigError(NO_TOKEN);
  const { openTelegram } = await import("../../channels/telegram/bot.ts");
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
  return "no user is allowed yet: write to the bot, which replies with the command to run (vis telegram allow ID)";
}

function inTheClear(apiUrl: string): readonly string[] {
  const { protocol, hostname } = new URL(apiUrl);
  if (protocol === "https:" || isLoopback(hostname)) return [];
  return [`telegram.apiUrl is not https: Vis sends the token to ${hostname} unencrypted`];
}

const FIRST_MS = 3_000;

export interface TelegramHook {
  readonly hooks: Readonly<Record<string, (request: Request) => Promise<Response>>>;
  readonly notes: readonly string[];
  close(): Promise<void>;
}

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
  if (token === null) {
    throw new ConfigError(`Cannot serve the bot at ${webhookUrl}: no token is saved; run vis auth login telegram`);
  }
  const path = new URL(webhookUrl).pathname;
  if (path === "/") {
    throw new ConfigError(
      `Cannot serve the bot at ${webhookUrl}: the address has no path; add one to telegram.webhookUrl, ` +
        "such as /telegram",
    );
  }
  const abort = new AbortController();
  const log = createLog("telegram");
  const { openTelegram } = await import("../../channels/telegram/bot.ts");
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
    notes: [`the address of the Telegram bot is ${webhookUrl}`],
    close: async () => {
      abort.abort();
      await started.catch(() => {});
      await bot?.close();
    },
  };
}

interface TelegramToken {
  readonly token: string;
  readonly from: string;
}

/** No error contains the token. */
export async function telegramToken(
  { tokenFile }: Pick<TelegramRequest, "tokenFile">,
  settings: Pick<Settings, "home" | "variable">,
): Promise<TelegramToken | null> {
  if (tokenFile !== undefined) return checked(await ofFile(tokenFile), tokenFile);
  const told = settings.variable(BOT_VARIABLE);
  if (told !== null) return checked(told, BOT_VARIABLE);
  const kept = await credentialsOf(settings).get(BOT_LOGIN);
  return kept?.type === "key" ? checked(kept.key, "auth.json") : null;
}

function checked(token: string, from: string): TelegramToken {
  if (/^\d{1,20}:[\w-]{20,200}$/.test(token)) return { token, from };
  throw new ConfigError(
    `Cannot use the token of ${from}: it does not look like 123456:ABC…; copy the token that @BotFather sent`,
  );
}

async function ofFile(path: string): Promise<string> {
  try {
    return (await Deno.readTextFile(path)).trim();
  } catch (error) {
    throw new ConfigError(
      `Cannot read the token in ${path}: ${fileFault(error)}; choose another file with --token-file`,
    );
  }
}

const ALLOWED_MS = 1_000;

interface BotParts {
  readonly settings: Settings;
  readonly parts: Pick<SessionParts, "env" | "shipped">;
}

function botSettings(
  request: OpenRequest,
  { settings, parts }: BotParts,
): Pick<OpenTelegramOptions, "apiUrl" | "clock" | "log" | "shutdownMs" | "quota" | "models" | "allowed"> {
  const { telegram, server } = settings.config;
  return {
    apiUrl: telegram.apiUrl,
    clock: REAL_BOT_CLOCK,
    log: createLog("telegram"),
    shutdownMs: telegram.shutdownMs,
    quota: server.quota,
    models: request.locked ? null : () => modelNames(settings),
    allowed: allowedOf(request, { settings, parts }),
  };
}

function allowedOf(
  request: OpenRequest,
  { settings, parts }: BotParts,
): () => Promise<readonly number[]> {
  let known: readonly number[] = settings.config.telegram.allow;
  let readAt = Date.now();
  return async () => {
    if (Date.now() - readAt < ALLOWED_MS) return known;
    readAt = Date.now();
    try {
      known = (await readSettings(request, parts.env, parts)).config.telegram.allow;
    } catch (error) {
      createLog("telegram").warn("telegram_settings_not_read", { error: String(error) });
    }
    return known;
  };
}

async function modelNames(settings: Settings): Promise<readonly string[]> {
  const reports = await new AppProviderAdmin(settings).models({ provider: null, signal: AbortSignal.timeout(10_000) });
  return reports.flatMap(({ provider, models }, at) =>
    models.map(({ name }) => at === 0 ? name : `${provider}/${name}`)
  );
}
