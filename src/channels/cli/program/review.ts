import { Command, InvalidArgumentError, Option } from "commander";
import { LOG_LEVELS, logLevelOf } from "../../../domain/records/history.ts";
import type { PromptFlags } from "../commands/run.ts";
import type { LogsFlags } from "../commands/search.ts";
import { action, type CommandGroup, type Context, FLAGS, positiveInteger } from "./command.ts";

export const REVIEW: CommandGroup = {
  heading: "Review:",
  parts: [
    { names: ["conversations", "replay"], add: addConversations },
    { names: ["vars"], add: addVars },
    { names: ["prompt"], add: addPrompt },
    { names: ["search", "logs"], add: addSearch },
    { names: ["undo"], add: addUndo },
  ],
};

function addConversations(program: Command, context: Context): void {
  const group = program.command("conversations").description(
    "manage stored conversations: list, show, rename, fork, retry, delete, export, import",
  );
  group.command("list")
    .description("list the latest conversations of all workspaces")
    .option("--limit <n>", "at most N conversations", positiveInteger, 20)
    .option("--here", "only conversations of this workspace", false)
    .addOption(output())
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../commands/conversations.ts")).printConversations));
  group.command("show")
    .description("show a conversation: requests, thinking, code, results, answers")
    .argument(
      "[id]",
      "conversation id; a unique prefix of 8 characters is enough (default: the latest one of this workspace)",
    )
    .option("--query <n>", "only this request, counted from 1", positiveInteger)
    .addOption(output())
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../commands/conversations.ts")).showConversation));
  addChanges(group, context);
  addFiles(group, context);
  program.command("replay")
    .description(
      "run the recorded replies of a conversation again in a copy of the workspace, and list differences",
    )
    .argument("<id>", "conversation id; a unique prefix of 8 characters is enough")
    .option("--query <n>", "compare only this request, counted from 1; earlier ones run too", positiveInteger)
    .option("--in-place", "run the code in the workspace itself, which it may change", false)
    .option(...FLAGS.json)
    .option("--db <path>", "database file to read from (VIS_DB)")
    .option("--cwd <dir>", "workspace folder to copy (default: current folder)")
    .addHelpText(
      "after",
      "\nExit codes: 0 no differences, 1 differences, 2 usage, 3 settings, 130 cancelled.",
    )
    .action(action(context, async () => (await import("../commands/replay.ts")).replayCommand));
}

function addChanges(group: Command, context: Context): void {
  group.command("fork")
    .description("create a branch that continues from an earlier point, and print the id of the branch")
    .argument("<id>", "id of a conversation, branch or request; a unique prefix of 8 characters is enough")
    .option("--at <iteration>", "step N, or REQUEST.STEP; 0 for the beginning (default: the end)")
    .option(...FLAGS.json)
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../commands/conversations.ts")).forkConversation));
  group.command("retry")
    .description("run a request again from the state before it; in a new branch if later requests exist")
    .argument("<id>", "conversation or branch id; a unique prefix of 8 characters is enough")
    .option("--query <n>", "number of the request, counted from 1 (default: the last request)", positiveInteger)
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(
      "--max-iterations <n>",
      "steps (model replies) before the model must ask for more (default: budget.iterations)",
      positiveInteger,
    )
    .addOption(
      new Option("--output <format>", "output format of stdout").choices(["text", "json", "jsonl"]).default("text"),
    )
    .option(...FLAGS.storedDb)
    .option(...FLAGS.cwd)
    .option("-q, --quiet", "print no progress on stderr", false)
    .option("-v, --verbose", "print full code and results on stderr", false)
    .action(action(context, async () => (await import("../commands/run.ts")).retryCommand));
  group.command("rename")
    .description("rename a branch; a conversation has the title of its newest branch")
    .argument("<id>", "conversation or branch id; a unique prefix of 8 characters is enough")
    .argument("<title...>", "new title")
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../commands/conversations.ts")).renameConversation));
  group.command("delete")
    .description("delete a conversation with all its branches")
    .argument("<id>", "conversation id; a unique prefix of 8 characters is enough")
    .option("--yes", "confirm the deletion; without this option, Vis deletes nothing", false)
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../commands/conversations.ts")).deleteConversation));
}

function addFiles(group: Command, context: Context): void {
  group.command("export")
    .description(
      "export a conversation: Markdown or HTML for reading, JSON with everything for vis conversations import",
    )
    .argument("[id]", "conversation or branch id (default: the latest here); JSON has all branches")
    .addOption(new Option("--format <format>", "export format").choices(["md", "json", "html"]).default("md"))
    .option("-o, --output <file>", "write to this file instead of stdout")
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../commands/export.ts")).exportCommand));
  group.command("import")
    .description("import an exported conversation into this workspace under new ids, print its new id, and run no code")
    .argument("<file>", "JSON file written by vis conversations export")
    .addOption(output())
    .option("--trust", "do not ask about functions and classes in the file", false)
    .option("-q, --quiet", "print nothing on stderr", false)
    .option(...FLAGS.storedDb)
    .option("--cwd <dir>", "workspace folder to import into (default: current folder)")
    .action(action(context, async () => (await import("../commands/export.ts")).importCommand));
}

function output(): Option {
  return new Option("--output <format>", "output format of stdout").choices(["text", "json"]).default("text");
}

function addVars(program: Command, context: Context): void {
  program.command("vars")
    .description("show the variables of a conversation, their values and versions; runs no code")
    .argument("[name...]", "print the values of these variables")
    .option("--conversation <id>", "conversation or branch (default: the latest of this workspace)")
    .option("--at <iteration>", "show the values after a step: N of the conversation, or REQUEST.STEP")
    .option("--history <name>", "show the versions of a variable and the code that made them")
    .option("--diff <name...>", "compare two versions: NAME V1 V2, or NAME for the last two")
    .option("--limit <n>", "with --history, the newest N versions at most", positiveInteger, 20)
    .option(...FLAGS.json)
    .option(...FLAGS.storedDb)
    .option(...FLAGS.cwd)
    .action(action(context, async () => (await import("../commands/vars.ts")).varsCommand));
}

function addPrompt(program: Command, { services, io, finish }: Context): void {
  program.command("prompt")
    .description("show the prompt of a request without sending it, or the prompt of a stored step")
    .argument("[prompt...]", "the request; piped input is appended")
    .option(
      "--conversation <id>",
      "show the prompt of the next request in this conversation; without a request, the prompt of its latest request",
    )
    .option(
      "--iteration <n>",
      "step of the conversation's latest request (default: the last step)",
      positiveInteger,
    )
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(...FLAGS.db)
    .option(...FLAGS.cwd)
    .option("--json", "print the messages as JSON, with their size in bytes and estimated tokens", false)
    .action(async (words: string[], flags: PromptFlags) => {
      const { promptCommand, readPrompt } = await import("../commands/run.ts");
      const prompt = flags.conversation !== undefined && words.length === 0 ? "" : await readPrompt(words, io);
      finish(await promptCommand(prompt, { services, io, flags }));
    });
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** Accepts a date, a local time, and an age in minutes, hours, days or weeks, such as `3d`. Throws commander's error
 * for an invalid value. */
function timeArgument(text: string): number {
  const [, number, unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text.trim()) ?? [];
  if (number !== undefined) return Date.now() - Number(number) * (UNITS[unit] ?? 0);
  const day = /^\d{4}-\d\d-\d\d$/.test(text.trim()) ? `${text.trim()}T00:00` : text.trim();
  const at = /^\d{4}-\d\d-\d\dT/.test(day) ? new Date(day).getTime() : NaN;
  if (Number.isFinite(at)) return at;
  throw new InvalidArgumentError(
    "Write a date such as 2026-11-22, a time such as 2026-11-22T10:30, or an age such as 3d",
  );
}

function levelArgument(text: string): LogsFlags["level"] {
  const level = logLevelOf(text);
  if (level === null) throw new InvalidArgumentError(`Choose one of ${LOG_LEVELS.join(", ")}`);
  return level;
}

function addSearch(program: Command, context: Context): void {
  program.command("search")
    .description("search requests, code and answers of all conversations for all words, best matches first")
    .argument("<text...>", "words to search for")
    .option("--conversation <id>", "only this conversation; a unique prefix of 8 characters is enough")
    .addOption(new Option("--kind <kind>", "only this kind of text").choices(["request", "code", "answer"]))
    .option("--since <time>", "only after this time: 2026-11-22, 2026-11-22T10:30 or 3d (three days ago)", timeArgument)
    .option("--until <time>", "only before this time", timeArgument)
    .option("--limit <n>", "at most N results", positiveInteger, 20)
    .option(...FLAGS.storedDb)
    .option(...FLAGS.json)
    .action(action(context, async () => (await import("../commands/search.ts")).searchCommand));
  program.command("logs")
    .description("show the log that is stored in the database, oldest first")
    .addOption(
      new Option("--level <level>", "minimum level").choices(LOG_LEVELS).argParser(levelArgument).default("info"),
    )
    .option("--conversation <id>", "only this conversation; a unique prefix of 8 characters is enough")
    .option("--query <id>", "only this request; a unique prefix of 8 characters is enough")
    .option("--since <time>", "only after this time: 2026-11-22, 2026-11-22T10:30 or 3d (three days ago)", timeArgument)
    .option("--limit <n>", "the newest N entries at most", positiveInteger, 100)
    .option("-f, --follow", "keep printing new entries until Ctrl-C", false)
    .option(...FLAGS.storedDb)
    .option("--json", "print one JSON object per line", false)
    .action(action(context, async () => (await import("../commands/search.ts")).logsCommand));
}

function addUndo(program: Command, context: Context): void {
  program.command("undo")
    .description("undo file changes, by default all changes of the last request that changed files")
    .option("--list", "list the changes that can be undone, newest first", false)
    .option("--last <n>", "undo the last N changes", positiveInteger)
    .addOption(
      new Option("--scope <what>", "undo all changes of the latest request, step or call (default: request)")
        .choices(["request", "step", "call"]),
    )
    .option("--conversation <id>", "only this conversation or branch; a unique prefix of 8 characters is enough")
    .option("--redo", "reapply the last undo", false)
    .option("--dry-run", "show the changes that would be undone, and change nothing", false)
    .option("--force", "also undo files that changed later, and discard their later changes", false)
    .option(...FLAGS.storedDb)
    .option(...FLAGS.cwd)
    .option(...FLAGS.json)
    .action(action(context, async () => (await import("../commands/undo.ts")).undoCommand));
}
