import type { Log } from "../../logging/log.ts";
import type { UserAccess } from "./access.ts";
import type { BotApi, BotClock } from "./bot_api.ts";
import type { Inbox } from "./inbox.ts";
import type { Messenger, Outbox } from "./messenger.ts";
import type { ChatQuestions } from "./questions.ts";
import type { ModelSessions } from "./sessions.ts";

export interface BotParts {
  readonly api: BotApi;
  readonly inbox: Inbox;
  readonly outbox: Outbox;
  readonly messenger: Messenger;
  readonly questions: ChatQuestions;
  readonly sessions: ModelSessions;
  readonly access: UserAccess;
  readonly clock: BotClock;
  readonly log: Log;
  /** Aborts when running queries must end. */
  readonly closing: AbortSignal;
  readonly quota: { readonly queriesPerDay: number | null; readonly costUsdPerDay: number | null };
  /** If an answer took longer than this time, the bot sends a new message, because Telegram sends no notification of edits. */
  readonly lateMs: number;
  readonly models: (() => Promise<readonly string[]>) | null;
}
