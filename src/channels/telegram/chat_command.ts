import { UsageError } from "../../domain/errors.ts";
import { nearestName } from "../../domain/nearest_name.ts";
import type { BotParts } from "./bot_parts.ts";
import { chatConversation, newChatConversation } from "./chat_conversation.ts";
import { COMMAND_LIST } from "./command_list.ts";
import { chatKey, type Incoming } from "./incoming.ts";
import { RichText } from "./rich_text.ts";

const SHOWN_MODELS = 40;

interface Given {
  readonly message: Incoming;
  readonly parts: BotParts;
  /** Ends the running query; false where none runs. */
  readonly cancel: () => boolean;
}

const COMMANDS: Readonly<Record<string, (given: Given) => Promise<string> | string>> = {
  start: () => helpText("Hello."),
  help: () => helpText(""),
  new: begin,
  fork,
  cancel: ({ cancel }) => cancel() ? "⏹ Ending it" : "Nothing is running",
  model: chooseModel,
  usage,
};

/** Does what a command says; null where it is none of the bot's and nothing is to be said. Doing it again after a kill
 * comes to the same. Rejects with `UsageError`, `ConfigError` and `StoreError`. */
export async function chatCommand(
  message: Incoming,
  rest: Omit<Given, "message">,
): Promise<RichText | null> {
  const { command, chat } = message;
  const run = command !== null && Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (run) return new RichText().add(await run({ message, ...rest }));
  // In a group it may be another bot's.
  return chat.group ? null : new RichText().add(`There is no /${command}: /help shows what there is`);
}

function helpText(greeting: string): string {
  const lines = [
    ...greeting === "" ? [] : [greeting],
    "Write what you want; a photo goes with it, and a document becomes a variable that is worked on.",
    "What you write while I am busy changes what I am doing.",
    "In a group, name me or answer one of my messages.",
    "",
    ...COMMAND_LIST.map(({ command, description }) => `/${command} – ${description}`),
  ];
  return lines.join("\n");
}

async function begin({ message: { chat, updateId }, parts }: Given): Promise<string> {
  await newChatConversation(chat, { parts, updateId });
  return "A new conversation. The one before is kept: vis conversations list";
}

async function fork({ message: { chat, text }, parts }: Given): Promise<string> {
  const back = text === "" ? 0 : Number(text);
  if (!/^\d{0,4}$/.test(text)) throw new UsageError(`Cannot fork at ${text}: say how many questions to take back`);
  const { conversations } = await parts.sessions.get(null);
  const queries = await conversations.queries(await chatConversation(chat, parts));
  const last = queries.at(-1 - back), first = queries[0];
  if (first === undefined || back > queries.length) {
    throw new UsageError(`Cannot take back ${back} questions: the conversation has ${queries.length}`);
  }
  const at = last ? { queryId: last.queryId, position: null } : { queryId: first.queryId, position: -1 };
  const branch = await conversations.fork(at);
  const key = chatKey(chat);
  await parts.inbox.setChat(key, { ...await parts.inbox.chat(key), branchId: branch.branchId });
  return back === 0
    ? "A copy of the conversation: what comes now leaves the other one as it is"
    : `A copy of the conversation without the last ${back === 1 ? "question" : `${back} questions`}`;
}

async function chooseModel({ message: { chat, text }, parts }: Given): Promise<string> {
  const key = chatKey(chat);
  const settings = await parts.inbox.chat(key);
  const { provider, model } = await parts.sessions.get(settings.model);
  if (text === "") {
    const names = await parts.models?.() ?? [];
    const shown = names.slice(0, SHOWN_MODELS).map((name) => `${name}${name === model ? "  ←" : ""}`);
    const more = names.length > SHOWN_MODELS ? [`and ${names.length - SHOWN_MODELS} more`] : [];
    return [`This chat uses ${model} of ${provider}.`, ...shown, ...more].join("\n");
  }
  if (parts.models === null) throw new UsageError("Cannot choose a model: whoever runs the bot has chosen it");
  const names = await parts.models();
  if (names.length > 0 && !names.includes(text)) {
    const near = nearestName(text, names);
    throw new UsageError(
      `Cannot use ${text}: there is no such model; ${near ? `is ${near} meant` : "/model shows them"}`,
    );
  }
  const session = await parts.sessions.get(text);
  await parts.inbox.setChat(key, { ...settings, model: text });
  return `From the next message on: ${session.model} of ${session.provider}`;
}

async function usage({ message: { chat }, parts }: Given): Promise<string> {
  const { conversations } = await parts.sessions.get(null);
  const branch = await chatConversation(chat, parts);
  const queries = await conversations.queries(branch);
  const sum = (of: (query: typeof queries[number]) => number) => queries.reduce((all, query) => all + of(query), 0);
  const cost = queries.some(({ costUsd }) => costUsd !== null) ? [`$${sum((q) => q.costUsd ?? 0).toFixed(4)}`] : [];
  return [
    `${queries.length} question${queries.length === 1 ? "" : "s"}, ${sum((q) => q.iterations)} iterations, ` +
    `${(sum((q) => q.ms) / 1000).toFixed(1)} s`,
    [`${sum((q) => q.usage.input)} → ${sum((q) => q.usage.output)} tokens`, ...cost].join(" · "),
    `Conversation ${branch.conversationId}`,
  ].join("\n");
}
