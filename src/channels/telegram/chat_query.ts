import type { Conversation, Conversations } from "../../conversation/conversations.ts";
import type { AskOptions } from "../../conversation/ask_options.ts";
import { BusyError, Cancelled, faultOf, UsageError } from "../../domain/errors.ts";
import { type Image, MAX_IMAGE_BYTES, readImage } from "../../domain/images.ts";
import { MORE_TEXT, takesMore } from "../../domain/query/outcomes.ts";
import { isChild } from "../../domain/query/query_event.ts";
import { QueryProgress } from "../../domain/query/query_progress.ts";
import type { QueryResult } from "../../domain/query/query_schemas.ts";
import type { StoredQuery } from "../../domain/query/stored_query.ts";
import type { Session } from "../channel.ts";
import { AnswerMessages, progressView, resultText } from "./answer_messages.ts";
import { type BotApi, TelegramError } from "./bot_api.ts";
import type { BotParts } from "./bot_parts.ts";
import { MORE } from "./chat_commands.ts";
import type { PendingMessage } from "./inbox.ts";
import type { MessageButton } from "./messenger.ts";
import type { Incoming, IncomingFile } from "./read_update.ts";
import { RichText } from "./rich_text.ts";

const PRIVATE_MS = 1_500, GROUP_MS = 4_000, TYPING_MS = 4_500;
/** The query may be the cause of the interruptions, so the bot does not run it again after this many attempts. */
const MAX_ATTEMPTS = 3;
const LOOK_AGAIN_MS = 2_000;
const SUSPENDED = "⏸ The bot is stopping. At its next start, it runs this request again";
const STOPPED = "⏸ The bot is stopping, and does not run this request again";

export type ChatQueryEnd = "answered" | "kept";

export class ChatQuery {
  readonly #parts: BotParts;
  readonly #reply: AnswerMessages;
  readonly #progress = new QueryProgress();
  readonly #since: number;
  readonly #cancel = new AbortController();
  readonly #signal: AbortSignal;
  readonly #ended = new AbortController();
  readonly #begun = Promise.withResolvers<void>();
  #entry: PendingMessage;
  #saving: Promise<void> = Promise.resolve();
  #running: { readonly session: Session; readonly branch: Conversation } | null = null;
  #buttons: readonly MessageButton[] = [];

  constructor(entry: PendingMessage, parts: BotParts) {
    const { chat, messageId } = entry.message;
    this.#entry = entry;
    this.#parts = parts;
    this.#signal = AbortSignal.any([this.#cancel.signal, parts.closing]);
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

  get message(): Incoming {
    return this.#entry.message;
  }

  get branchId(): string | undefined {
    return this.#entry.branchId;
  }

  get queryId(): string | null {
    return this.#progress.queryId;
  }

  cancel(): void {
    this.#cancel.abort();
  }

  async steer(text: string): Promise<boolean> {
    await this.#begun.promise;
    return this.#running ? await this.#running.session.conversations.steer(this.#running.branch, text) : false;
  }

  async run(): Promise<ChatQueryEnd> {
    try {
      await this.#reply.open("⏳");
      const live = this.#live();
      const text = await this.#answer();
      this.#ended.abort();
      await live;
      await this.#saving;
      if (text === null) {
        await this.#reply.pause((this.#entry.attempts ?? 1) < MAX_ATTEMPTS ? SUSPENDED : STOPPED);
        return "kept";
      }
      await this.#reply.finish(text, { anew: this.#isLate, buttons: this.#buttons });
      return "answered";
    } catch (error) {
      return this.#failed(error);
    } finally {
      this.#ended.abort();
      this.#begun.resolve();
    }
  }

  get #isLate(): boolean {
    const { clock, lateMs } = this.#parts;
    const { startedAt } = this.#entry;
    return startedAt !== undefined && clock.now() - startedAt >= lateMs && !this.#cancel.signal.aborted;
  }

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
    const result = await this.#result(session.conversations, branch);
    if (result.reason === "cancelled" && this.#isCut) return await this.#suspend();
    if (takesMore(result.reason)) this.#buttons = [{ text: MORE_TEXT, callback_data: MORE }];
    return resultText(result, { model: session.model });
  }

  async #result(
    conversations: Conversations,
    branch: Conversation,
  ): Promise<Omit<QueryResult, "confidence" | "value">> {
    for (;;) {
      try {
        const keyed = await conversations.stored.keyedQuery(branch.branchId, keyOf(this.#entry));
        const id = keyed?.queryId ?? this.#entry.queryId;
        const known = id === undefined ? null : await conversations.records.query(id);
        if (known === null) return await this.#begin(conversations, branch);
        if (!known.running) {
          return isInterrupted(known, this.#entry) ? await this.#again(known, { conversations, branch }) : known;
        }
      } catch (error) {
        if (!(error instanceof BusyError)) throw error;
      }
      // The branch is busy, or another process runs this query.
      await this.#parts.clock.sleep(LOOK_AGAIN_MS, this.#signal);
    }
  }

  async #begin(conversations: Conversations, branch: Conversation): Promise<QueryResult> {
    const { message } = this.#entry;
    if (this.#entry.attempts === undefined) await this.#save({ attempts: 1 });
    if (message.command === MORE) return await conversations.more(branch, this.#options(branch));
    const attachments = await readAttachments(message, this.#parts, this.#signal);
    return await conversations.ask(branch, requestOf(this.#entry), { ...this.#options(branch), ...attachments });
  }

  async #again(
    cut: StoredQuery,
    { conversations, branch }: { readonly conversations: Conversations; readonly branch: Conversation },
  ): Promise<QueryResult> {
    const { attempts = 1, message } = this.#entry;
    const begun = await conversations.stored.keyedQuery(branch.branchId, keyOf(this.#entry)) !== null;
    await this.#save({ queryId: cut.queryId, suspended: false, ...(begun ? { attempts: attempts + 1 } : {}) });
    // Before the first iteration, Vis has not stored the documents of the query, so the bot downloads them again.
    if (cut.iterations === 0 && message.files.some(({ kind }) => kind === "document")) {
      return await this.#begin(conversations, branch);
    }
    return await conversations.retry(cut.queryId, { ...this.#options(branch), seenFrom: branch });
  }

  #options({ branchId }: Conversation) {
    const { chat: place, messageId, from } = this.message;
    const { questions, quota } = this.#parts;
    return {
      signal: this.#signal,
      label: userLabel(from.id),
      limits: { costUsd: null, wallMs: null, priced: quota.costUsdPerDay !== null },
      requestKey: { branchId, key: keyOf(this.#entry), fingerprint: "telegram" },
      approve: (question, signal) =>
        questions.ask(question, { place, replyTo: place.group ? messageId : null, signal }),
      emit: (event) => {
        this.#progress.take(event);
        if (event.type !== "started" || isChild(event)) return;
        this.#begun.resolve();
        this.#saving = this.#save({ queryId: event.queryId });
      },
    } satisfies AskOptions;
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
    return "Cannot finish this request: an unexpected error occurred; to see it, run “vis logs” on the machine of the bot";
  }

  #failed(error: unknown): ChatQueryEnd {
    if (error instanceof Cancelled) return "kept";
    if (!(error instanceof TelegramError) || error.code === "token") throw error;
    this.#parts.log.warn("telegram_answer_refused", { error: error.message });
    return "answered";
  }
}

function isInterrupted({ reason }: StoredQuery, { suspended = false, attempts = 1 }: PendingMessage): boolean {
  return attempts < MAX_ATTEMPTS && (reason === "process_lost" || suspended && reason === "cancelled");
}

function keyOf({ message, attempts = 1 }: PendingMessage): string {
  return `telegram/${message.chat.id}/${message.updateId}/${attempts}`;
}

function requestOf({ message: { text, files, from, chat } }: PendingMessage): string {
  const names = files.map(({ name }) => name).join(", ");
  const words = text.trim() === "" ? `Here is ${names}, sent without a message.` : text;
  return chat.group ? `${from.name}: ${words}` : words;
}

const MAX_BYTES = 20 * 1024 * 1024;

async function readAttachments(
  { files, chat }: Incoming,
  { api, outbox }: BotParts,
  signal: AbortSignal,
): Promise<Required<Pick<AskOptions, "images" | "variables">>> {
  const images: Image[] = [];
  const variables: Record<string, NonNullable<AskOptions["context"]>> = {};
  for (const file of files) {
    const { name, kind } = file;
    const limit = kind === "image" ? MAX_IMAGE_BYTES : MAX_BYTES;
    if (file.bytes !== null && file.bytes > limit) throw tooLarge(file, limit);
    const bytes = await outbox.must(
      chat.id,
      (closing) => fetched(file, { api, limit, signal: AbortSignal.any([signal, closing]) }),
    );
    if (kind === "image") images.push(readImage(bytes, name));
    else {
      const taken = Object.keys(variables).length;
      variables[taken === 0 ? "context" : `context${taken + 1}`] = {
        label: name,
        json: /\.json$/i.test(name),
        pieces: ReadableStream.from([bytes]),
      };
    }
  }
  return { images, variables };
}

async function fetched(
  file: IncomingFile,
  { api, limit, signal }: { readonly api: BotApi; readonly limit: number; readonly signal: AbortSignal },
): Promise<Uint8Array<ArrayBuffer>> {
  const found = await api.call((wire, own) => wire.getFile({ file_id: file.fileId }, own), { signal });
  if ((found.file_size ?? 0) > limit) throw tooLarge(file, limit);
  if (!found.file_path) {
    throw new UsageError(`Cannot read ${file.name}: Telegram gave no path for the file; send it again`);
  }
  const larger = () => tooLarge({ ...file, bytes: null }, limit);
  return await api.download(found.file_path, { name: file.name, signal, maxBytes: limit, tooLarge: larger });
}

function tooLarge({ name, bytes }: IncomingFile, limit: number): UsageError {
  const size = bytes === null
    ? `more than ${limit} bytes, the limit`
    : `${bytes} bytes, more than the limit of ${limit}`;
  return new UsageError(`Cannot read ${name}: it has ${size}; send a smaller file`);
}

export function userLabel(userId: number): string {
  return `telegram:${userId}`;
}
