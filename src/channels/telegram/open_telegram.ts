import { ConfigError } from "../../domain/errors.ts";
import type { Log } from "../../logging/log.ts";
import type { RunningBot, Session } from "../channel.ts";
import { UserAccess } from "./inbound/access.ts";
import { backoff } from "./api/backoff.ts";
import { BotApi } from "./api/bot_api.ts";
import type { BotParts } from "./chat/bot_parts.ts";
import type { BotClock } from "./api/bot_clock.ts";
import { Inbox } from "./inbound/inbox.ts";
import { Messenger } from "./outbound/messenger.ts";
import { Outbox } from "./outbound/outbox.ts";
import { receiveUpdate } from "./api/receive_update.ts";
import { ChatQuestions } from "./chat/questions.ts";
import { ModelSessions } from "./chat/sessions.ts";
import { TelegramBot } from "./telegram_bot.ts";
import { TelegramError } from "./api/telegram_error.ts";
import { webhookSecret } from "./api/webhook_secret.ts";
import type { Me } from "./api/wire.ts";

/** By then the user has probably put the phone away. */
const LATE_MS = 10_000;

export interface OpenTelegramOptions extends Pick<BotParts, "clock" | "log" | "quota" | "models"> {
  readonly token: string;
  /** Root of the Bot API server. */
  readonly apiUrl: string;
  readonly deleteWebhook: boolean;
  /** The URL to which Telegram sends updates; with null the bot polls for them. */
  readonly webhookUrl: string | null;
  /** Who may use the bot, read again for each message. */
  readonly allowed: () => Promise<readonly number[]>;
  /** Opens a session with a model instead of the configured one. */
  readonly open: (model: string | null) => Promise<Session>;
  readonly shutdownMs: number;
  /** As in `BotParts`; ten seconds if omitted. */
  readonly lateMs?: number;
  readonly note: (text: string) => void;
  /** Aborts the attempts to reach Telegram at startup. */
  readonly signal: AbortSignal;
}

export interface OpenedBot extends RunningBot {
  /** Answers webhook requests. */
  readonly receive: (request: Request) => Promise<Response>;
}

/** Starts the bot of a token. Rejects with `ConfigError` if the token is refused, like `open`, and with `Cancelled`
 * when the signal aborts; nothing is left open then. */
export async function openTelegram(options: OpenTelegramOptions): Promise<OpenedBot> {
  const { token, apiUrl, clock, log, note, shutdownMs } = options;
  const api = new BotApi({ token, root: apiUrl.replace(/\/+$/, "") });
  const sessions = new ModelSessions({ open: options.open, log });
  try {
    const session = await sessions.main();
    const me = await introduce(api, options);
    const abort = { closing: new AbortController(), outbox: new AbortController() };
    const outbox = new Outbox({ clock, signal: abort.outbox.signal });
    const messenger = new Messenger({ api, outbox });
    const parts: BotParts = {
      ...{ api, clock, log, outbox, sessions },
      access: new UserAccess({ allowed: options.allowed, clock }),
      inbox: new Inbox(session.conversations.records.states, { botId: api.botId, now: clock.now }),
      messenger,
      questions: new ChatQuestions({ messenger, log }),
      closing: abort.closing.signal,
      quota: options.quota,
      lateMs: options.lateMs ?? LATE_MS,
      models: options.models,
    };
    const secret = webhookSecret(token);
    const webhook = options.webhookUrl === null ? null : { url: options.webhookUrl, secret };
    const bot = new TelegramBot({ parts, me, note, shutdownMs, abort, webhook });
    return {
      username: me.username,
      provider: session.provider,
      model: session.model,
      notes: session.notes ?? [],
      ended: bot.ended,
      receive: (request) => receiveUpdate(request, { secret, accept: (updates) => bot.accept(updates) }),
      close: async () => {
        await bot.close();
        await sessions.close();
      },
    };
  } catch (error) {
    await sessions.close();
    throw error;
  }
}

/** Identifies the bot; retries until Telegram can be reached. */
async function introduce(
  api: BotApi,
  { clock, log, note, signal, deleteWebhook }: OpenTelegramOptions & { readonly clock: BotClock; readonly log: Log },
): Promise<Me> {
  for (let failures = 1;; failures++) {
    try {
      const me = await api.call((wire, own) => wire.getMe(own), { signal });
      if (deleteWebhook) await api.call((wire, own) => wire.deleteWebhook({}, own), { signal });
      return me;
    } catch (error) {
      if (!(error instanceof TelegramError)) throw error;
      if (error.code === "token") {
        throw new ConfigError(
          "Cannot use the bot: Telegram refused its token; set another with vis auth login telegram or VIS_TELEGRAM_TOKEN",
        );
      }
      if (error.code !== "network" && error.code !== "flood") {
        throw new ConfigError(`Cannot use the bot: ${error.message}`);
      }
      if (failures === 1) note(`${error.message}; trying again`);
      log.warn("telegram_not_reached", { failures });
      await clock.sleep(Math.max(error.retryAfterMs, backoff(failures, clock.random)), signal);
    }
  }
}
