import { UsageError } from "../../../domain/errors.ts";
import { nearestName } from "../../../domain/kit/names.ts";
import { chatKey, type Incoming } from "../inbound/incoming.ts";
import { RichText } from "../text/rich_text.ts";
import type { BotParts } from "./bot_parts.ts";
import { chooseModel } from "./choose_model.ts";
import { COMMAND_LIST } from "./command_list.ts";
import { chatConversation, newChatConversation } from "./conversation.ts";

interface Given {
  readonly message: Incoming;
  readonly parts: BotParts;
  /** Cancels the running query; false if none runs. */
  readonly cancel: () => boolean;
}

type Told = RichText | string;

const COMMANDS: Readonly<Record<string, (given: Given) => Promise<Told> | Told>> = {
  start,
  help: () => helpText(),
  new: begin,
  fork,
  cancel,
  stop: cancel,
  model: ({ message: { chat, text }, parts }) => chooseModel(text, { chat, parts }),
  usage,
};

/** Runs a command; null if the command is not the bot's and needs no reply. Running it again after a kill has the same
 * effect. Rejects with `UsageError`, `ConfigError` and `StoreError`. */
export async function chatCommand(
  message: Incoming,
  rest: Omit<Given, "message">,
): Promise<RichText | null> {
  const { command, chat } = message;
  if (command === null) return null;
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (run) {
    const told = await run({ message, ...rest });
    return typeof told === "string" ? new RichText().add(told) : told;
  }
  if (chat.group) return null; // it may be another bot's
  const near = nearestName(command, Object.keys(COMMANDS));
  const meant = near === null ? "/help lists the commands" : `did you mean /${near}? /help lists the commands`;
  return new RichText().add(`Unknown command /${command}: ${meant}`);
}

async function start({ parts }: Given): Promise<string> {
  const { workspace, provider, model } = await parts.sessions.main();
  const folder = workspace.split(/[\\/]/).filter((name) => name !== "").at(-1) ?? workspace;
  return `Hello, I am Vis: I answer by writing small programs and running them in a sandbox. I work in the folder ` +
    `${folder}, with ${model} of ${provider}.\n\n${helpText()}`;
}

function helpText(): string {
  const lines = [
    "Write what you need. You can attach photos; a document becomes a variable that I can work on.",
    "Messages you send while I am working steer the current request. Reply to a message to ask about it.",
    "In a group, mention me or reply to one of my messages.",
    "",
    ...COMMAND_LIST.map(({ command, description }) => `/${command} – ${description}`),
  ];
  return lines.join("\n");
}

function cancel({ cancel }: Given): string {
  return cancel() ? "⏹ Ending it" : "Nothing is running";
}

async function begin({ message: { chat, updateId }, parts }: Given): Promise<string> {
  await newChatConversation(chat, { parts, updateId });
  return "Started a new conversation. The previous one is kept (vis conversations list)";
}

async function fork({ message: { chat, text }, parts }: Given): Promise<string> {
  const back = text === "" ? 0 : Number(text);
  if (!/^\d{0,4}$/.test(text)) throw new UsageError(`Cannot fork at ${text}: give the number of requests to leave out`);
  const { conversations } = await parts.sessions.main();
  const queries = await conversations.queries(await chatConversation(chat, parts));
  const last = queries.at(-1 - back), first = queries[0];
  if (first === undefined || back > queries.length) {
    throw new UsageError(`Cannot leave out ${back} requests: the conversation has ${queries.length}`);
  }
  const at = last ? { queryId: last.queryId, position: null } : { queryId: first.queryId, position: -1 };
  const branch = await conversations.fork(at);
  const key = chatKey(chat);
  await parts.inbox.setChat(key, { ...await parts.inbox.chat(key), branchId: branch.branchId });
  return back === 0
    ? "This is a copy of the conversation. The original stays unchanged"
    : `This is a copy of the conversation without the last ${back === 1 ? "request" : `${back} requests`}`;
}

async function usage({ message: { chat }, parts }: Given): Promise<string> {
  const { conversations } = await parts.sessions.main();
  const branch = await chatConversation(chat, parts);
  const queries = await conversations.queries(branch);
  const sum = (of: (query: typeof queries[number]) => number) => queries.reduce((all, query) => all + of(query), 0);
  const cost = queries.some(({ costUsd }) => costUsd !== null) ? [`$${sum((q) => q.costUsd ?? 0).toFixed(4)}`] : [];
  return [
    `${counted(queries.length, "request")}, ${counted(sum((q) => q.iterations), "step")}, ` +
    `${(sum((q) => q.ms) / 1000).toFixed(1)} s`,
    [`${sum((q) => q.usage.input)} → ${sum((q) => q.usage.output)} tokens`, ...cost].join(" · "),
    `Conversation ${branch.conversationId}`,
  ].join("\n");
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
