import { messageOf } from "../../domain/errors.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { clip, visibleText } from "../../domain/kit/text.ts";
import {
  type ApprovalAnswer,
  approvalBeginning,
  approvalChange,
  approvalChoices,
  approvalExact,
  type ApprovalQuestion,
  approvalSaid,
  approvalTitle,
  approvalWhy,
} from "../../domain/query/approval.ts";
import type { Log } from "../../logging/log.ts";
import type { Messenger } from "./messenger.ts";
import type { ChatPlace } from "./read_update.ts";
import { type RichMessage, RichText, splitRichText } from "./rich_text.ts";

/** The limit leaves room for the decision, which the bot adds to the message. */
const PART_CHARS = 3_000;
const REASON_CHARS = 1_000;
const REPLY = "A reply to this message is a no with your reason.";
const NO_LONGER = "This question no longer waits for an answer";

interface Waiting {
  readonly place: ChatPlace;
  readonly question: ApprovalQuestion;
  readonly answer: (given: ApprovalAnswer & { readonly by: string }) => void;
  readonly messages: number[];
}

/** The caller checks whether the sender may use the bot. */
export class ChatQuestions {
  readonly #messenger: Messenger;
  readonly #log: Log;
  readonly #waiting = new Map<string, Waiting>();

  constructor({ messenger, log }: { readonly messenger: Messenger; readonly log: Log }) {
    this.#messenger = messenger;
    this.#log = log;
  }

  async ask(
    question: ApprovalQuestion,
    { place, replyTo, signal }: {
      readonly place: ChatPlace;
      readonly replyTo: number | null;
      readonly signal: AbortSignal;
    },
  ): Promise<ApprovalAnswer> {
    const token = crypto.randomUUID();
    const { promise, resolve } = Promise.withResolvers<ApprovalAnswer & { readonly by: string }>();
    const waiting: Waiting = { place, question, answer: resolve, messages: [] };
    this.#waiting.set(token, waiting);
    const sent = this.#send(waiting, { token, replyTo });
    const end = { said: "⏹ Cancelled" };
    try {
      const { by, ...answer } = await abortable(Promise.race([promise, sent.then(() => promise)]), signal);
      const mark = answer.decision === "no" ? "🚫" : "✅";
      end.said = `${mark} ${approvalSaid(question, answer)}${place.group && by !== "" ? ` (${by})` : ""}`;
      return answer;
    } finally {
      this.#waiting.delete(token);
      sent.then(({ messageId, asked }) => {
        const text = `${asked.text}\n\n${clip(end.said, 1_000)}`.toWellFormed();
        return this.#messenger.edit(place, { messageId, message: { ...asked, text } });
      }).catch((error: unknown) => this.#log.warn("telegram_question_not_closed", { error: messageOf(error) }));
    }
  }

  press(data: string, { chat, by }: { readonly chat: number; readonly by: string }): string {
    const [token = "", pressed] = data.split(" ");
    const waiting = this.#waiting.get(token);
    const choice = waiting && approvalChoices(waiting.question).find(({ decision }) => decision === pressed);
    if (waiting === undefined || choice === undefined || waiting.place.id !== chat) return NO_LONGER;
    waiting.answer({ decision: choice.decision, reason: "", by: name(by) });
    return choice.short;
  }

  reply(
    to: number,
    { chat, by, text }: { readonly chat: number; readonly by: string; readonly text: string },
  ): boolean {
    for (const { place, messages, answer } of this.#waiting.values()) {
      if (place.id !== chat || !messages.includes(to)) continue;
      answer({ decision: "no", reason: clip(text.trim(), REASON_CHARS), by: name(by) });
      return true;
    }
    return false;
  }

  async #send(
    { place, question, messages }: Waiting,
    { token, replyTo }: { readonly token: string; readonly replyTo: number | null },
  ): Promise<{ readonly messageId: number; readonly asked: RichMessage }> {
    const choices = approvalChoices(question);
    const buttons = choices.map(({ short, decision }) => ({ text: short, callback_data: `${token} ${decision}` }));
    const parts = splitRichText(questionText(question), PART_CHARS);
    for (const part of parts.slice(0, -1)) {
      messages.push(await this.#messenger.send(place, part.message(), { replyTo, silent: true }));
    }
    const message = (parts.at(-1) ?? new RichText()).message();
    const messageId = await this.#messenger.send(place, message, { replyTo, buttons });
    messages.push(messageId);
    return { messageId, asked: message };
  }
}

function questionText(question: ApprovalQuestion): RichText {
  const more = [approvalWhy(question), approvalBeginning(question)];
  const choices = approvalChoices(question).map(({ short, text }) => `${short}: ${text}`);
  const rest = [...more.filter((text) => text !== ""), [...choices, REPLY].join("\n")];
  const exact = approvalExact(question).toWellFormed();
  const asked = new RichText().add(`🔐 ${approvalTitle(question)}\n\n`.toWellFormed());
  if (exact !== "") asked.add(exact, [{ type: "pre" }]).add("\n\n");
  const change = approvalChange(question).trimEnd().toWellFormed();
  if (change !== "") asked.add(change, [{ type: "pre", language: "diff" }]).add("\n\n");
  return asked.add(rest.join("\n\n").toWellFormed());
}

function name(by: string): string {
  return clip(visibleText(by), 60);
}
