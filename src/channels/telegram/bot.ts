import { Cancelled, ConfigError } from "../../domain/errors.ts";
import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import { MORE_TEXT } from "../../domain/query/outcomes.ts";
import type { RunningBot, Session } from "../channel.ts";
import { UserAccess } from "./access.ts";
import { BotApi, type Me, TelegramError, untilReached, type Update } from "./bot_api.ts";
import type { BotParts } from "./bot_parts.ts";
import { COMMAND_LIST, MORE } from "./chat_commands.ts";
import { ChatWorker } from "./chat_worker.ts";
import { Inbox, type PendingMessage } from "./inbox.ts";
import { Messenger, Outbox } from "./messenger.ts";
import { ChatQuestions } from "./questions.ts";
import {
  chatKey,
  type ChatPlace,
  type Incoming,
  type Press,
  type ReadUpdate,
  readUpdate,
  type Sender,
} from "./read_update.ts";
import { ModelSessions } from "./sessions.ts";
import { pollUpdates, receiveUpdate, setWebhook, type Webhook, webhookSecret } from "./updates.ts";

const LATE_MS = 10_000;

export interface OpenTelegramOptions extends Pick<BotParts, "clock" | "log" | "quota" | "models"> {
  readonly token: string;
  readonly apiUrl: string;
  readonly deleteWebhook: boolean;
  /** With null, the bot polls. */
  readonly webhookUrl: string | null;
  /** The bot calls `allowed` for each message and button, so that a change of the list applies without a restart. */
  readonly allowed: () => Promise<readonly number[]>;
  readonly open: (model: string | null) => Promise<Session>;
  readonly shutdownMs: number;
  readonly lateMs?: number;
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface OpenedBot extends RunningBot {
  readonly receive: (request: Request) => Promise<Response>;
}

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

async function introduce(api: BotApi, options: OpenTelegramOptions): Promise<Me> {
  const { signal, deleteWebhook } = options;
  const identified = async (): Promise<Me> => {
    const me = await api.call((wire, own) => wire.getMe(own), { signal });
    if (deleteWebhook) await api.call((wire, own) => wire.deleteWebhook({}, own), { signal });
    return me;
  };
  return await untilReached(identified, options).catch((error: unknown) => {
    if (!(error instanceof TelegramError)) throw error;
    throw new ConfigError(error.code === "token" ? REFUSED_TOKEN : error.message);
  });
}

export const LAST_WORDS_MS = 5_000;

interface TelegramBotOptions {
  readonly parts: BotParts;
  readonly me: Me;
  readonly webhook: Webhook | null;
  readonly note: (text: string) => void;
  readonly shutdownMs: number;
  readonly abort: { readonly closing: AbortController; readonly outbox: AbortController };
}

class TelegramBot {
  readonly #options: TelegramBotOptions;
  readonly #workers = new Map<string, ChatWorker>();
  /** Photos of an album arrive in separate updates, so the bot adds later photos to the first message. */
  readonly #albums = new BoundedMap<string, number>(100);
  readonly #polling = new AbortController();
  readonly #failed = Promise.withResolvers<never>();
  #ended: Promise<void> | null = null;
  #accepting: Promise<void> = Promise.resolve();

  constructor(options: TelegramBotOptions) {
    this.#options = options;
    this.#failed.promise.catch(() => {});
  }

  get ended(): Promise<void> {
    if (this.#ended !== null) return this.#ended;
    const ended = Promise.race([this.#run(), this.#failed.promise]).catch((error: unknown) => {
      throw whyEnded(error);
    });
    ended.catch(() => {}); // The caller may read `ended` later.
    return this.#ended = ended;
  }

  async close(): Promise<void> {
    const { parts: { clock }, shutdownMs, abort } = this.#options;
    this.#polling.abort();
    await this.#accepting;
    const done = new AbortController();
    const idle = Promise.all([...this.#workers.values()].map((worker) => worker.close()));
    const late = async (): Promise<void> => {
      await clock.sleep(shutdownMs, done.signal);
      abort.closing.abort();
      await clock.sleep(LAST_WORDS_MS, done.signal);
      abort.outbox.abort();
    };
    const watched = late().catch(() => {});
    await idle;
    done.abort();
    await watched;
    abort.closing.abort();
    abort.outbox.abort();
    await this.#ended?.catch(() => {});
  }

  async #run(): Promise<void> {
    const { parts: { api, clock, inbox, log }, note } = this.#options;
    const signal = this.#polling.signal;
    await api.call((wire, own) => wire.setMyCommands({ commands: [...COMMAND_LIST] }, own), { signal })
      .catch((error: unknown) => log.warn("telegram_commands_not_set", { error: String(error) }));
    for (const entry of await inbox.entries()) this.#dispatch(entry);
    const { webhook } = this.#options;
    if (webhook) return await setWebhook(webhook, { api, clock, log, note, signal });
    const accept = (updates: readonly Update[]) => this.accept(updates);
    await pollUpdates({ api, clock, log, note, signal, accept, mark: () => inbox.mark() });
  }

  /** Resolves when the database has all messages that need an answer. Rejects with `Cancelled` during the shutdown, so
   * that Telegram keeps the updates. */
  accept(updates: readonly Update[]): Promise<void> {
    const accepted = this.#accepting.then(() => this.#accept(updates));
    this.#accepting = accepted.catch(() => {});
    return accepted;
  }

  async #accept(updates: readonly Update[]): Promise<void> {
    const { parts: { inbox }, me } = this.#options;
    if (this.#polling.signal.aborted) throw new Cancelled("The bot is shutting down");
    const taken = new Map<number, PendingMessage>();
    const ids = updates.map(({ update_id: id }) => id);
    const known = await inbox.known(ids);
    for (const update of updates) {
      if (known.includes(update.update_id)) continue; // Telegram repeats updates that the bot has not confirmed.
      const entry = await this.#sorted(this.#read(update, me), taken);
      if (entry) taken.set(entry.message.updateId, entry);
    }
    await inbox.accept(ids, [...taken.values()]);
    for (const entry of taken.values()) this.#dispatch(entry);
  }

  /** Telegram would send an unreadable update again and again. */
  #read(update: Update, me: Me): ReadUpdate {
    try {
      return readUpdate(update, me);
    } catch (error) {
      this.#options.parts.log.error("telegram_update_not_read", { updateId: update.update_id, error: String(error) });
      return { kind: "nothing" };
    }
  }

  async #sorted(read: ReadUpdate, taken: Map<number, PendingMessage>): Promise<PendingMessage | null> {
    const { access, inbox } = this.#options.parts;
    if (read.kind === "nothing") return null;
    if (read.kind === "moved") {
      await inbox.moveChats(read.from, read.to);
      return null;
    }
    if (read.kind === "press") return await this.#press(read);
    const sender: Sender = read.kind === "message"
      ? { place: read.message.chat, messageId: read.message.messageId, userId: read.message.from.id }
      : read;
    if (!await access.allows(sender.userId, sender.place)) {
      const once = `refused ${sender.userId} ${sender.place.id}`;
      if (access.mayTell(once)) this.#tell(sender, refusalText(sender.userId, sender.place));
      return null;
    }
    if (read.kind === "message") {
      const { message: { chat, from }, reply } = read;
      const answer = { chat: chat.id, by: from.name, text: reply?.text ?? "" };
      if (reply !== null && this.#options.parts.questions.reply(reply.to, answer)) return null;
      return await this.#withAlbum(read.message, taken);
    }
    if (access.mayTell(`${read.told} ${sender.place.id} ${sender.userId}`, "known")) this.#tell(sender, read.told);
    return null;
  }

  /** An interrupted query asks again, so the bot stores no answer to an approval. */
  async #press({ place, userId, pressId, data, name, ...press }: Press): Promise<PendingMessage | null> {
    const { access, questions, messenger, closing } = this.#options.parts;
    const allowed = await access.allows(userId, place);
    if (!allowed && !access.mayTell(`pressed ${userId} ${place.id}`)) return null;
    const more = allowed && data === MORE;
    const text = !allowed
      ? "This bot answers only allowed users"
      : more
      ? MORE_TEXT
      : questions.press(data, { chat: place.id, by: name });
    void messenger.notice(pressId, { text, signal: closing });
    if (!more) return null;
    const from = { id: userId, name };
    return { message: { ...press, chat: place, from, text: "", command: MORE, files: [], album: null } };
  }

  async #withAlbum(message: Incoming, taken: Map<number, PendingMessage>): Promise<PendingMessage | null> {
    const { album, updateId, files, text } = message;
    if (album === null) return { message };
    const key = `${chatKey(message.chat)} ${album}`;
    const first = this.#albums.get(key) ?? updateId;
    const known = taken.get(first);
    if (known) {
      const all = [...known.message.files, ...files];
      taken.set(first, { ...known, message: { ...known.message, files: all, text: known.message.text || text } });
      return null;
    }
    const longer = first === updateId ? null : await this.#worker(message).extend(first, files);
    if (longer) {
      await this.#options.parts.inbox.put(longer);
      return null;
    }
    this.#albums.set(key, updateId);
    return { message };
  }

  #tell({ place, messageId }: Sender, text: string): void {
    const { messenger, log } = this.#options.parts;
    messenger.send(place, { text, entities: [] }, { replyTo: place.group ? messageId : null })
      .catch((error: unknown) => log.warn("telegram_reply_refused", { error: String(error) }));
  }

  #dispatch(entry: PendingMessage): void {
    if (!this.#polling.signal.aborted) this.#worker(entry.message).accept(entry);
  }

  #worker({ chat }: Pick<Incoming, "chat">): ChatWorker {
    const key = chatKey(chat);
    const known = this.#workers.get(key);
    if (known) return known;
    const worker = new ChatWorker(this.#options.parts, { onFailed: (error) => this.#failed.reject(error) });
    this.#workers.set(key, worker);
    return worker;
  }
}

const REFUSED_TOKEN = "Cannot use the bot: Telegram refused its token; get the current token from @BotFather";

function whyEnded(error: unknown): unknown {
  if (error instanceof Cancelled || !(error instanceof TelegramError)) return error;
  if (error.code === "token") {
    return new ConfigError(REFUSED_TOKEN, { cause: error });
  }
  if (error.code !== "conflict") return error;
  const why = error.detail === "webhook"
    ? "the bot has a webhook; delete the webhook with vis telegram --delete-webhook"
    : "another program reads the updates of this bot; stop that program";
  return new ConfigError(`Cannot ask Telegram for updates: ${why}`);
}

function refusalText(userId: number, place: ChatPlace): string {
  const own = `This bot answers only allowed users. Your id is ${userId}; its operator can allow you with:\n` +
    `vis telegram allow ${userId}`;
  if (!place.group) return own;
  return `${own}\nor everybody in this group, whose id is ${place.id}, with:\nvis telegram allow ${place.id}`;
}
