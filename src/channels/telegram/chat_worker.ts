import { Cancelled, faultOf, StoreError } from "../../domain/errors.ts";
import { counted, dollarText } from "../../domain/kit/text.ts";
import { TelegramError } from "./bot_api.ts";
import type { BotParts } from "./bot_parts.ts";
import { chatCommand, chatConversation, MORE } from "./chat_commands.ts";
import { ChatQuery, type ChatQueryEnd, userLabel } from "./chat_query.ts";
import type { PendingMessage } from "./inbox.ts";
import { chatKey, type Incoming, type IncomingFile } from "./read_update.ts";
import { RichText, splitRichText } from "./rich_text.ts";

const ALBUM_MS = 700;
const MAX_WAITING = 50;
const EDITED = "I do not read edits of this message: send it as a new message";

export class ChatWorker {
  readonly #parts: BotParts;
  readonly #onFailed: (error: unknown) => void;
  #intake: Promise<void> = Promise.resolve();
  #waiting: PendingMessage[] = [];
  #current: ChatQuery | null = null;
  #loop: Promise<void> | null = null;
  #steers: Promise<void>[] = [];
  #steered: PendingMessage[] = [];
  #closing = false;

  constructor(parts: BotParts, { onFailed }: { readonly onFailed: (error: unknown) => void }) {
    this.#parts = parts;
    this.#onFailed = onFailed;
  }

  accept(entry: PendingMessage): void {
    this.#intake = this.#intake.then(() => this.#take(entry)).catch(async (error: unknown) => {
      await this.#fault(entry, error);
    });
  }

  async extend(updateId: number, files: readonly IncomingFile[]): Promise<PendingMessage | null> {
    await this.#intake;
    const at = this.#waiting.findIndex(({ message }) => message.updateId === updateId);
    const found = this.#waiting[at];
    if (found === undefined) return null;
    const { message } = found;
    const longer = { ...found, message: { ...message, files: [...message.files, ...files] } };
    this.#waiting[at] = longer;
    return longer;
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#intake;
    await this.#loop;
  }

  cancel(): boolean {
    this.#current?.cancel();
    return this.#current !== null;
  }

  async #take(entry: PendingMessage): Promise<void> {
    if (this.#closing) return;
    const { message } = entry;
    if (message.edited) return await this.#edited(entry);
    if (message.command !== null && message.command !== MORE) return await this.#command(entry);
    if (await this.#wasSteered(entry)) return await this.#parts.inbox.remove(entry);
    const isNew = entry.attempts === undefined;
    const mayAdd = isNew && message.files.length === 0 && message.command === null;
    const placed = this.#current && mayAdd ? await this.#placed(entry) : entry;
    const current = this.#current;
    if (mayAdd && current && current.branchId === placed.branchId) return this.#steer(placed, current);
    if (await this.#admit(placed) && current && isNew) this.#react(message, "👌");
  }

  async #admit(entry: PendingMessage): Promise<boolean> {
    const refused = await overQuota(entry.message.from.id, this.#parts) ??
      (this.#waiting.length >= MAX_WAITING
        ? `Cannot take this message: ${MAX_WAITING} messages are waiting, the limit; send it again later`
        : null);
    if (refused !== null && entry.attempts === undefined) {
      await this.#tell(entry, new RichText().add(refused));
      return false;
    }
    this.#enqueue(await this.#placed(entry));
    return true;
  }

  async #edited(entry: PendingMessage): Promise<void> {
    const { message } = entry;
    const { inbox, access } = this.#parts;
    const same = (one: Incoming): boolean => one.messageId === message.messageId && message.command === null;
    const at = this.#waiting.findIndex((one) => same(one.message));
    const waiting = this.#waiting[at];
    if (waiting !== undefined) {
      const changed = this.#waiting[at] = { ...waiting, message: { ...waiting.message, text: message.text } };
      await inbox.put(changed);
      return await inbox.remove(entry);
    }
    const current = this.#current;
    const part = current && [current.message, ...this.#steered.map((one) => one.message)].find(same);
    if (part?.text === message.text) return await inbox.remove(entry);
    if (current && part) {
      const text = `I have changed an earlier message; it now says:\n${message.text}`;
      return this.#steer(await this.#placed({ ...entry, message: { ...message, text, edited: false } }), current);
    }
    if (access.mayTell(`edited ${chatKey(message.chat)} ${message.from.id}`, "known")) {
      return await this.#tell(entry, new RichText().add(EDITED));
    }
    await inbox.remove(entry);
  }

  #react({ chat, messageId }: Incoming, emoji: "👀" | "👌"): void {
    const { messenger, closing } = this.#parts;
    void messenger.react(chat, { messageId, emoji, signal: closing });
  }

  /** A later command must not change the conversation or the model of this message. */
  async #placed(entry: PendingMessage): Promise<PendingMessage> {
    if (entry.branchId !== undefined) return entry;
    const { branchId } = await chatConversation(entry.message.chat, this.#parts);
    const { model } = await this.#parts.inbox.chat(chatKey(entry.message.chat));
    const placed = { ...entry, branchId, model };
    await this.#parts.inbox.put(placed);
    return placed;
  }

  #enqueue(entry: PendingMessage): void {
    this.#waiting.push(entry);
    this.#waiting.sort((a, b) => a.message.updateId - b.message.updateId);
    this.#loop ??= this.#work().catch(this.#onFailed).finally(() => {
      this.#loop = null;
    });
  }

  async #work(): Promise<void> {
    const { clock, closing, inbox } = this.#parts;
    while (!this.#closing && this.#waiting.length > 0) {
      if (this.#waiting[0]?.message.album) await clock.sleep(ALBUM_MS, closing).catch(() => {});
      const entry = this.#waiting.shift();
      if (entry === undefined || this.#closing) return;
      const query = this.#current = new ChatQuery(entry, this.#parts);
      const end = await query.run().catch((error: unknown) => this.#fault(entry, error)).finally(() => {
        this.#current = null;
      });
      await Promise.all(this.#steers.splice(0));
      if (end === "kept") return;
      // After a kill between two removals, an entry without its query would run as a new request.
      for (const part of this.#steered.splice(0)) await inbox.remove(part);
      await inbox.remove(entry);
    }
  }

  #steer(entry: PendingMessage, query: ChatQuery): void {
    const { message } = entry;
    const { inbox } = this.#parts;
    const text = message.chat.group ? `${message.from.name}: ${message.text}` : message.text;
    this.#steers.push(
      (async () => {
        this.#react(message, "👀");
        if (!await query.steer(text)) return void await this.#admit(entry);
        const part = { ...entry, steered: query.queryId ?? "" };
        await inbox.put(part);
        this.#steered.push(part);
      })().catch((error: unknown) => void this.#fault(entry, error)),
    );
  }

  /** A failing store or a refused token ends the bot. After another defect, the bot removes the message, which would
   * otherwise fail again at each start. */
  async #fault(entry: PendingMessage, error: unknown): Promise<ChatQueryEnd> {
    if (error instanceof Cancelled) return "kept";
    if (error instanceof StoreError || error instanceof TelegramError && error.code === "token") {
      this.#onFailed(error);
      return "kept";
    }
    const stack = error instanceof Error ? error.stack ?? error.message : String(error);
    this.#parts.log.error("telegram_defect", { updateId: entry.message.updateId, stack });
    await this.#parts.inbox.remove(entry).catch(this.#onFailed);
    return "answered";
  }

  async #wasSteered({ steered }: PendingMessage): Promise<boolean> {
    if (steered === undefined) return false;
    const { conversations } = await this.#parts.sessions.main();
    const query = await conversations.records.query(steered);
    return query !== null && !query.running && query.status !== "interrupted";
  }

  async #command(entry: PendingMessage): Promise<void> {
    if (entry.replied) return await this.#parts.inbox.remove(entry);
    let told: RichText | null;
    try {
      told = await chatCommand(entry.message, { parts: this.#parts, cancel: () => this.cancel() });
    } catch (error) {
      const fault = faultOf(error);
      if (fault === null || fault.kind === "cancelled") throw error;
      told = new RichText().add(`⚠️ ${fault.message}`);
    }
    if (told === null) await this.#parts.inbox.remove(entry);
    else await this.#tell(entry, told);
  }

  /** The inbox marks a reply before its sending, so that a crash repeats no reply. */
  async #tell(entry: PendingMessage, text: RichText): Promise<void> {
    const { inbox, messenger, log } = this.#parts;
    const { chat, messageId } = entry.message;
    await inbox.put({ ...entry, replied: true });
    const replyTo = chat.group ? messageId : null;
    try {
      for (const part of splitRichText(text, 4096)) await messenger.send(chat, part.message(), { replyTo });
    } catch (error) {
      if (error instanceof Cancelled) {
        await inbox.put({ ...entry, replied: false });
        return;
      }
      if (!(error instanceof TelegramError) || error.code !== "refused") throw error;
      log.warn("telegram_reply_refused", { error: error.message });
    }
    await inbox.remove(entry);
  }
}

async function overQuota(
  userId: number,
  { quota, sessions, clock }: Pick<BotParts, "quota" | "sessions" | "clock">,
): Promise<string | null> {
  const { queriesPerDay, costUsdPerDay } = quota;
  if (queriesPerDay === null && costUsdPerDay === null) return null;
  const { conversations } = await sessions.main();
  const used = await conversations.stored.labelUse(new Date(clock.now()).setUTCHours(0, 0, 0, 0));
  const own = used.find(({ label }) => label === userLabel(userId));
  if (queriesPerDay !== null && (own?.queries ?? 0) >= queriesPerDay) {
    const limit = counted(queriesPerDay, "request");
    return `You have reached the limit of ${limit} per day (server.quota.queriesPerDay); it resets at 00:00 UTC`;
  }
  if (costUsdPerDay === null || (own?.costUsd ?? 0) < costUsdPerDay) return null;
  return `You have reached the limit of ${
    dollarText(costUsdPerDay)
  } per day (server.quota.costUsdPerDay); it resets at 00:00 UTC`;
}
