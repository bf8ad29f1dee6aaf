import type { Conversation } from "../../conversation/conversations.ts";
import { ConfigError, UsageError } from "../../domain/errors.ts";
import { nearestName } from "../../domain/kit/names.ts";
import { counted, oneLine } from "../../domain/kit/text.ts";
import type { Session } from "../channel.ts";
import { aboutText, addSpend, NOTHING_SPENT } from "../../domain/query/model_call.ts";
import type { BotParts } from "./bot_parts.ts";
import { chatKey, type ChatPlace, type Incoming } from "./read_update.ts";
import { RichText } from "./rich_text.ts";

export const MORE = "more";

export const COMMAND_LIST = [
  { command: "new", description: "begin a new conversation" },
  { command: MORE, description: "continue a request that stopped at its step limit" },
  { command: "fork", description: "continue in a copy; /fork 2 leaves out the last two requests" },
  { command: "cancel", description: "stop the current request" },
  { command: "model", description: "show the models, or choose one: /model NAME" },
  { command: "usage", description: "tokens and cost of this conversation" },
  { command: "help", description: "what this bot can do" },
] as const;

interface Given {
  readonly message: Incoming;
  readonly parts: BotParts;
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
  if (chat.group) return null; // Another bot of the group may handle the command.
  const near = nearestName(command, Object.keys(COMMANDS));
  const meant = near === null ? "/help lists the commands" : `did you mean /${near}? /help lists the commands`;
  return new RichText().add(`Unknown command /${command}: ${meant}`);
}

async function start({ message: { chat }, parts }: Given): Promise<string> {
  const { provider, model, ...main } = await parts.sessions.main();
  const { branchId } = await parts.inbox.chat(chatKey(chat));
  const { workspace } = branchId === null ? main : await chatConversation(chat, parts);
  const folder = workspace.split(/[\\/]/).filter((name) => name !== "").at(-1) ?? workspace;
  return `Hello, I am Vis: I answer by writing small programs and running them in a sandbox. I work in the folder ` +
    `${folder}, with ${model} of ${provider}.\n\n${helpText()}`;
}

function helpText(): string {
  const lines = [
    "Write what you need. You can attach images; another document becomes a variable that I can work on.",
    "A text that you send while I am working steers the current request. Reply to a message to ask about it.",
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
  if (!/^\d{0,4}$/.test(text)) {
    throw new UsageError(
      `Cannot fork the conversation: ${
        oneLine(text, 100)
      } is not a number from 0 to 9999; write how many requests to leave out`,
    );
  }
  const { conversations } = await parts.sessions.main();
  const queries = await conversations.queries(await chatConversation(chat, parts));
  const last = queries.at(-1 - back), first = queries[0];
  if (first === undefined) throw new UsageError("Cannot fork the conversation: it has no request yet; send one first");
  if (back > queries.length) {
    throw new UsageError(
      `Cannot leave out ${counted(back, "request")}: the conversation has ${
        counted(queries.length, "request")
      }; write a smaller number`,
    );
  }
  const at = last ? { queryId: last.queryId, position: null } : { queryId: first.queryId, position: -1 };
  const branch = await conversations.fork(at);
  const key = chatKey(chat);
  await parts.inbox.setChat(key, { ...await parts.inbox.chat(key), branchId: branch.branchId });
  return back === 0
    ? "This is a copy of the conversation. The original stays unchanged"
    : `This is a copy of the conversation without the last ${
      back === 1 ? "request" : counted(back, "request")
    }. Files stay as they are`;
}

async function usage({ message: { chat }, parts }: Given): Promise<string> {
  const { conversations } = await parts.sessions.main();
  const branch = await chatConversation(chat, parts);
  const queries = await conversations.queries(branch);
  const sum = (of: (query: typeof queries[number]) => number) => queries.reduce((all, query) => all + of(query), 0);
  const { usage, costUsd } = queries.reduce(addSpend, NOTHING_SPENT);
  return [
    `${counted(queries.length, "request")}, ${counted(sum((q) => q.iterations), "step")}, ` +
    `${(sum((q) => q.ms) / 1000).toFixed(1)} s`,
    [
      `${aboutText(usage)}${usage.input} → ${usage.output} tokens`,
      costUsd === null ? "price unknown" : `${aboutText(usage)}$${costUsd.toFixed(4)}`,
    ].join(" · "),
    `Conversation ${branch.conversationId}`,
  ].join("\n");
}

const SHOWN = 40;
const DEFAULT = "default";

async function chooseModel(
  asked: string,
  { chat, parts }: { readonly chat: ChatPlace; readonly parts: BotParts },
): Promise<RichText> {
  const key = chatKey(chat);
  if (asked === "") return await listed((await parts.inbox.chat(key)).model, parts);
  if (parts.models === null) {
    throw new UsageError(
      "Cannot change the model: this bot uses the locked profile, which allows only the configured model; ask the operator of the bot",
    );
  }
  const name = chosen(asked, await parts.models());
  const told = await parts.sessions.use(name, (session) => Promise.resolve(named(session)));
  await parts.inbox.setChat(key, { ...await parts.inbox.chat(key), model: name });
  return new RichText().add(`From the next message on: ${told}`);
}

function chosen(asked: string, names: readonly string[]): string | null {
  if (names.includes(asked)) return asked;
  if (asked.toLowerCase() === DEFAULT) return null;
  if (names.length === 0) return asked;
  const similar = names.filter((name) => name.toLowerCase().includes(asked.toLowerCase()));
  if (similar.length === 1) return similar[0] ?? asked;
  if (similar.length > 1) {
    const more = similar.length > SHOWN ? `\nand ${similar.length - SHOWN} more` : "";
    throw new UsageError(
      `Cannot use ${asked}: several models have it in their names; choose one of\n${
        similar.slice(0, SHOWN).join("\n")
      }${more}`,
    );
  }
  const near = nearestName(asked, names);
  throw new UsageError(
    `Cannot use ${oneLine(asked, 100)}: no model of the providers has it in its name; ${
      near ? `did you mean ${near}?` : "/model lists the models"
    }`,
  );
}

/** A tap on code copies the code, so the names of the models are code. */
async function listed(model: string | null, { sessions, models }: BotParts): Promise<RichText> {
  const present = await sessions.use(model, (session) => Promise.resolve(session)).catch((error: unknown) => {
    if (error instanceof ConfigError) return error; // The user can still choose another model.
    throw error;
  });
  const said = present instanceof Error ? `⚠️ ${present.message}` : `This chat uses ${named(present)}.`;
  const text = new RichText().add(said);
  const names = await models?.() ?? [];
  for (const name of names.slice(0, SHOWN)) {
    text.add("\n").add(name, [{ type: "code" }]);
    if (!(present instanceof Error) && [present.model, `${present.provider}/${present.model}`].includes(name)) {
      text.add("  ←");
    }
  }
  if (names.length > SHOWN) text.add(`\nand ${names.length - SHOWN} more: /model and a part of the name`);
  return model === null || models === null ? text : text.add(`\n/model ${DEFAULT}: the configured model`);
}

function named({ model, provider }: Pick<Session, "model" | "provider">): string {
  return `${model} of ${provider}`;
}

type Parts = Pick<BotParts, "api" | "inbox" | "sessions">;

/** If the chosen conversation no longer exists, resolves with the chat's first conversation. */
export async function chatConversation(place: ChatPlace, parts: Parts): Promise<Conversation> {
  const { conversations } = await parts.sessions.main();
  const { branchId } = await parts.inbox.chat(chatKey(place));
  if (branchId === null) return await choose(place, { parts, suffix: "" });
  try {
    return await conversations.byId(branchId);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return await choose(place, { parts, suffix: "" });
  }
}

async function newChatConversation(
  place: ChatPlace,
  { parts, updateId }: { readonly parts: Parts; readonly updateId: number },
): Promise<Conversation> {
  return await choose(place, { parts, suffix: `/${updateId}` });
}

async function choose(
  place: ChatPlace,
  { parts, suffix }: { readonly parts: Parts; readonly suffix: string },
): Promise<Conversation> {
  const { conversations, workspace } = await parts.sessions.main();
  const key = chatKey(place);
  const branch = await conversations.records.ensure({
    title: "Telegram",
    untitled: true,
    channel: "telegram",
    externalId: `${parts.api.botId}/${key}${suffix}`,
    workspace,
  });
  await parts.inbox.setChat(key, { ...await parts.inbox.chat(key), branchId: branch.branchId });
  return branch;
}
