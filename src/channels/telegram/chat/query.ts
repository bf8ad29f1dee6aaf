import type { Conversation } from "../../../conversation/conversations.ts";
import { Cancelled, faultOf } from "../../../domain/errors.ts";
import { isChild } from "../../../domain/query/query_event.ts";
import { QueryProgress } from "../../../domain/query/query_progress.ts";
import type { Session } from "../../channel.ts";
import { TelegramError } from "../api/telegram_error.ts";
import type { PendingMessage } from "../inbound/entry.ts";
import type { Incoming } from "../inbound/incoming.ts";
import { progressView } from "../outbound/progress_view.ts";
import { AnswerMessages } from "../outbound/reply.ts";
import { resultText } from "../outbound/result_text.ts";
import { RichText } from "../text/rich_text.ts";
import type { BotParts } from "./bot_parts.ts";
import { queryAnswer } from "./query_answer.ts";

const PRIVATE_MS = 1_500, GROUP_MS = 4_000, TYPING_MS = 4_500;
const SUSPENDED = "⏸ The bot is restarting. This request continues when it is back";

/** `kept`: the program ends before the answer was written, and the message stays in the inbox. */
export type ChatQueryEnd = "answered" | "kept";

/** Processes one message up to its answer. */
export class ChatQuery {
  readonly #parts: BotParts;
  readonly #reply: AnswerMessages;
  readonly #progress = new QueryProgress();
  readonly #since: number;
  readonly #cancel = new AbortController();
  readonly #ended = new AbortController();
  /** Resolves when the query runs or is over. */
  readonly #begun = Promise.withResolvers<void>();
  #entry: PendingMessage;
  #saving: Promise<void> = Promise.resolve();
  #running: { readonly session: Session; readonly branch: Conversation } | null = null;

  constructor(entry: PendingMessage, parts: BotParts) {
    const { chat, messageId } = entry.message;
    this.#entry = entry;
    this.#parts = parts;
    this.#since = parts.clock.now();
    this.#reply = new AnswerMessages({
      place: chat,
      replyTo: chat.group ? messageId : null,
      messenger: parts.messenger,
      ids: entry.replies ?? [],
      progress: entry.progress,
      save: (change) => this.#save({ startedAt: this.#entry.startedAt ?? parts.clock.now(), ...change }),
    });
  }

  /** The message that it answers. */
  get message(): Incoming {
    return this.#entry.message;
  }

  /** Id of the running query; null before it has begun. */
  get queryId(): string | null {
    return this.#progress.queryId;
  }

  cancel(): void {
    this.#cancel.abort();
  }

  /** Like `Conversations.steer`, once the query has begun. */
  async steer(text: string): Promise<boolean> {
    await this.#begun.promise;
    return this.#running ? await this.#running.session.conversations.steer(this.#running.branch, text) : false;
  }

  /** Never rejects, except if the token is refused. */
  async run(): Promise<ChatQueryEnd> {
    try {
      await this.#reply.open("⏳");
      const live = this.#live();
      const text = await this.#answer();
      this.#ended.abort();
      await live;
      await this.#saving;
      if (text === null) {
        await this.#reply.pause(SUSPENDED);
        return "kept";
      }
      await this.#reply.finish(text, { anew: this.#isLate });
      return "answered";
    } catch (error) {
      return this.#failed(error);
    } finally {
      this.#ended.abort();
      this.#begun.resolve();
    }
  }

  /** Whether the user may have stopped watching; a user who cancelled has not. */
  get #isLate(): boolean {
    const { clock, lateMs } = this.#parts;
    const { startedAt } = this.#entry;
    return startedAt !== undefined && clock.now() - startedAt >= lateMs && !this.#cancel.signal.aborted;
  }

  /** Null if the end of the program interrupted it. */
  async #answer(): Promise<RichText | null> {
    try {
      const { branchId, model = null } = this.#entry;
      const branch = await (await this.#parts.sessions.main()).conversations.byId(branchId ?? "");
      const work = (session: Session) => this.#answerIn(session, branch);
      return await this.#parts.sessions.run(branch, { model, work });
    } catch (error) {
      if (error instanceof Cancelled) return this.#isCut ? await this.#suspend() : new RichText().add("⏹ Cancelled");
      return new RichText().add(`⚠️ ${this.#told(error)}`);
    } finally {
      this.#running = null;
      this.#begun.resolve();
    }
  }

  async #answerIn(session: Session, branch: Conversation): Promise<RichText | null> {
    this.#running = { session, branch };
    const result = await queryAnswer({
      ...{ branch, session, parts: this.#parts },
      signal: AbortSignal.any([this.#cancel.signal, this.#parts.closing]),
      entry: () => this.#entry,
      save: (change) => this.#save(change),
      approve: (question, signal) => {
        const { chat: place, messageId } = this.message;
        return this.#parts.questions.ask(question, { place, replyTo: place.group ? messageId : null, signal });
      },
      emit: (event) => {
        this.#progress.take(event);
        if (event.type !== "started" || isChild(event)) return;
        this.#begun.resolve();
        this.#saving = this.#save({ queryId: event.queryId });
      },
    });
    if (result.reason === "cancelled" && this.#isCut) return await this.#suspend();
    return resultText(result, { model: session.model });
  }

  get #isCut(): boolean {
    return this.#parts.closing.aborted && !this.#cancel.signal.aborted;
  }

  async #suspend(): Promise<null> {
    await this.#save({ suspended: true });
    return null;
  }

  async #live(): Promise<void> {
    const { clock, messenger } = this.#parts;
    const { chat } = this.#entry.message;
    const interval = chat.group ? GROUP_MS : PRIVATE_MS;
    for (let typed = -Infinity; !this.#ended.signal.aborted;) {
      if (clock.now() - typed >= TYPING_MS) {
        typed = clock.now();
        void messenger.typing(chat, this.#ended.signal);
      }
      await clock.sleep(interval, this.#ended.signal).catch(() => {});
      if (this.#ended.signal.aborted || this.queryId === null) continue;
      await this.#reply.progress(progressView(this.#progress, clock.now() - this.#since));
    }
  }

  async #save(change: Partial<PendingMessage>): Promise<void> {
    this.#entry = { ...this.#entry, ...change };
    await this.#parts.inbox.put(this.#entry);
  }

  #told(error: unknown): string {
    if (error instanceof TelegramError && error.code === "token") throw error;
    const fault = error instanceof TelegramError ? error : faultOf(error);
    if (fault !== null) return fault.message;
    this.#parts.log.error("telegram_defect", { error: error instanceof Error ? error.stack ?? "" : String(error) });
    return "An internal error ended this request; see the log";
  }

  #failed(error: unknown): ChatQueryEnd {
    if (error instanceof Cancelled) return "kept";
    if (!(error instanceof TelegramError) || error.code === "token") throw error;
    this.#parts.log.warn("telegram_answer_refused", { error: error.message });
    return "answered";
  }
}
