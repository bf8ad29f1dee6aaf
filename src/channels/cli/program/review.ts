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
    .option("--limit <n>", "list at most N conversations", positiveInteger, 20)
    .option("--here", "list only conversations of this workspace, the current folder", false)
    .addOption(output())
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../commands/conversations.ts")).printConversations));
  group.command("show")
    .description("show the requests of a branch, each with thinking, code, results and answer")
    .argument(
      "[id]",
      "conversation or branch id; a unique prefix of at least 8 characters is enough (default: the latest conversation of this workspace)",
    )
    .option("--query <n>", "show only this request, counted from 1", positiveInteger)
    .addOption(output())
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../commands/show_conversation.ts")).showConversation));
  addChanges(group, context);
  addFiles(group, context);
  program.command("replay")
    .description(
      "run the recorded replies of a branch again in a copy of the workspace, and list differences",
    )
    .argument("<id>", "conversation or branch id; a unique prefix of at least 8 characters is enough")
    .option("--query <n>", "compare only this request, counted from 1; earlier requests run too", positiveInteger)
    .option(
      "--in-place",
      "run the code in the workspace itself instead of a copy; the code may change files there",
      false,
    )
    .option(...FLAGS.json)
    .option(
      "--db <path>",
      "database that has the conversation: a file, or postgres://… (env: VIS_DATABASE_URL, or else VIS_DB)",
    )
    .option("--cwd <dir>", "workspace folder, which Vis copies unless --in-place is set (default: current folder)")
    .addHelpText(
      "after",
      "\nExit codes: 0 no differences, 1 differences, 2 usage, 3 settings or database,\n130 cancelled, 141 output closed by its reader.",
    )
    .action(action(context, async () => (await import("../commands/replay.ts")).replayCommand));
}

function addChanges(group: Command, context: Context): void {
  group.command("fork")
    .description("create a branch that begins at a point of another branch, and print the id of the new branch")
    .argument("<id>", "id of a conversation, branch or request; a unique prefix of at least 8 characters is enough")
    .option("--at <iteration>", "fork after this step, N or REQUEST.STEP; 0 means the beginning (default: the end)")
    .option(...FLAGS.json)
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../commands/conversations.ts")).forkConversation));
  group.command("retry")
    .description(
      "run a request again with the variables from before the request; files stay as they are. If later requests exist, or the branch inherits the request, the run gets a new branch",
    )
    .argument("<id>", "conversation or branch id; a unique prefix of at least 8 characters is enough")
    .option("--query <n>", "number of the request, counted from 1 (default: the last request)", positiveInteger)
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(
      "--max-iterations <n>",
      "number of steps before the model must ask for more; the first four steps without a result do not count (default: budget.iterations, which can grow)",
      positiveInteger,
    )
    .addOption(
      new Option("--output <format>", "output format of stdout").choices(["text", "json", "jsonl"]).default("text"),
    )
    .option(...FLAGS.storedDb)
    .option(...FLAGS.move)
    .option(...FLAGS.root)
    .option(...FLAGS.set)
    .option("-q, --quiet", "print no progress on stderr; errors and problems still appear there", false)
    .option("-v, --verbose", "print the code and the results of each block on stderr, unless -q is set", false)
    .action(action(context, async () => (await import("../commands/run.ts")).retryCommand));
  group.command("rename")
    .description(
      "rename a branch, and the other branches of the conversation that have the same title, unless you renamed them",
    )
    .argument("<id>", "conversation or branch id; a unique prefix of at least 8 characters is enough")
    .argument("<title...>", "new title")
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../commands/conversations.ts")).renameConversation));
  group.command("delete")
    .description("delete a conversation with all its branches")
    .argument(
      "<id>",
      "id of the conversation or of one of its branches; a unique prefix of at least 8 characters is enough",
    )
    .option("--yes", "confirm the deletion; without this option, Vis deletes nothing", false)
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../commands/conversations.ts")).deleteConversation));
}

function addFiles(group: Command, context: Context): void {
  group.command("export")
    .description(
      "export a branch as Markdown or HTML for reading, or its whole conversation as JSON for vis conversations import",
    )
    .argument(
      "[id]",
      "conversation or branch id; a unique prefix of at least 8 characters is enough (default: the latest conversation of this workspace)",
    )
    .addOption(new Option("--format <format>", "export format").choices(["md", "json", "html"]).default("md"))
    .option("-o, --output <file>", "write to this file instead of stdout")
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../commands/export.ts")).exportCommand));
  group.command("import")
    .description("import an exported conversation into this workspace under new ids, print its new id, and run no code")
    .argument("<file>", "JSON file written by vis conversations export")
    .addOption(output())
    .option("--trust", "import functions and classes in the file without a question", false)
    .option("-q, --quiet", "print no new ids on stderr, and no warning with --trust; errors still appear there", false)
    .option(...FLAGS.storedDb)
    .option("--cwd <dir>", "workspace folder to import into (default: current folder)")
    .action(action(context, async () => (await import("../commands/export.ts")).importCommand));
}

function output(): Option {
  return new Option("--output <format>", "output format of stdout").choices(["text", "json"]).default("text");
}

function addVars(program: Command, context: Context): void {
  program.command("vars")
    .description("show the variables of a branch, their values and versions, without running code")
    .argument("[name...]", "print the values of these variables (default: list all variables)")
    .option(
      "--conversation <id>",
      "conversation or branch id; a unique prefix of at least 8 characters is enough (default: the latest conversation of this workspace)",
    )
    .option(
      "--at <iteration>",
      "show the state after this step, N or REQUEST.STEP; 0 means the beginning (not with --diff)",
    )
    .option("--history <name>", "show the versions of a variable and the code that made them")
    .option("--diff <name...>", "compare two versions: NAME V1 V2, or NAME for the last two versions")
    .option("--limit <n>", "with --history, show at most the newest N versions", positiveInteger, 20)
    .option(...FLAGS.json)
    .option(...FLAGS.storedDb)
    .option(...FLAGS.cwd)
    .action(action(context, async () => (await import("../commands/vars.ts")).varsCommand));
}

function addPrompt(program: Command, { services, io, finish, commandNamed }: Context): void {
  program.command("prompt")
    .description(
      "show the prompt with which a request would begin, or the prompt of a stored step, without a model call",
    )
    .argument(
      "[prompt...]",
      "the request in plain words; Vis appends piped input that no option reads, with --conversation only if words are given",
    )
    .option(
      "--conversation <id>",
      "id of the conversation or branch that would get the request; without a request, show a prompt of its latest request",
    )
    .option(
      "--iteration <n>",
      "with --conversation and without a request, show the prompt of this step (default: the last step)",
      positiveInteger,
    )
    .option(
      "--context <file>",
      "load this file as the variable context, as vis run does; the prompt then describes the variable",
    )
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(...FLAGS.db)
    .option(
      "--cwd <dir>",
      "workspace folder (default: folder of the conversation if it exists, or else the current folder)",
    )
    .option(...FLAGS.set)
    .option("--json", "print the messages as JSON, with their size in bytes and estimated tokens", false)
    .action(async (words: string[], flags: PromptFlags) => {
      const { promptCommand, readPrompt, requestOfWords } = await import("../commands/run.ts");
      const isStored = (flags.conversation !== undefined || flags.iteration !== undefined) && words.length === 0;
      const request = isStored
        ? { text: "" }
        : await requestOfWords(await readPrompt(words, io, { context: flags.context }), {
          services,
          flags,
          commandNamed,
        });
      finish(await promptCommand(request, { services, io, flags }));
    });
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

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
    .description(
      "find requests, code and answers that contain all words, best matches first, or newest first if all words are in a script such as Chinese or Korean",
    )
    .argument("<text...>", "words to search for")
    .option("--conversation <id>", "search only this conversation; a unique prefix of at least 8 characters is enough")
    .addOption(
      new Option("--kind <kind>", "search only this kind of text (default: all three)").choices([
        "request",
        "code",
        "answer",
      ]),
    )
    .option(
      "--since <time>",
      "search only after this time: 2026-11-22, 2026-11-22T10:30, or an age in m, h, d or w, such as 3d",
      timeArgument,
    )
    .option("--until <time>", "search only before this time, in the forms of --since", timeArgument)
    .option(
      "--limit <n>",
      "show at most N conversations, each with its best match; with --conversation or --json, at most N matches",
      positiveInteger,
      20,
    )
    .option(...FLAGS.storedDb)
    .option(...FLAGS.json)
    .action(action(context, async () => (await import("../commands/search.ts")).searchCommand));
  program.command("logs")
    .description("show the log in the database, oldest entries first")
    .addOption(
      new Option(
        "--level <level>",
        "show entries of this level and above (the stored log begins at info; VIS_LOG=debug prints debug entries)",
      ).choices(LOG_LEVELS).argParser(levelArgument)
        .default("info"),
    )
    .option("--conversation <id>", "show only this conversation; a unique prefix of at least 8 characters is enough")
    .option("--query <id>", "show only this request; a unique prefix of at least 8 characters is enough")
    .option(
      "--since <time>",
      "show only entries after this time: 2026-11-22, 2026-11-22T10:30, or an age in m, h, d or w, such as 3d",
      timeArgument,
    )
    .option("--limit <n>", "show at most the newest N entries", positiveInteger, 100)
    .option("-f, --follow", "keep printing new entries until Ctrl-C", false)
    .option(...FLAGS.storedDb)
    .option("--json", "print one JSON object per line", false)
    .action(action(context, async () => (await import("../commands/search.ts")).logsCommand));
}

function addUndo(program: Command, context: Context): void {
  program.command("undo")
    .description("undo recorded file changes; by default, the changes of the last request that changed files")
    .option(
      "--list",
      "list the recorded file changes, newest first; mark undone changes, and files that prevent an undo",
      false,
    )
    .option("--last <n>", "undo the last N changes", positiveInteger)
    .addOption(
      new Option(
        "--scope <what>",
        "undo the changes of the latest request, step or call that changed files (default: request)",
      )
        .choices(["request", "step", "call"]),
    )
    .option(
      "--conversation <id>",
      "undo only changes of this conversation or branch; a unique prefix of at least 8 characters is enough",
    )
    .option("--redo", "reapply the changes that the last undo reverted", false)
    .option("--dry-run", "show what the undo or redo would change, and change no file", false)
    .option(
      "--rest",
      "if some files prevent the undo or the redo, change the other files",
      false,
    )
    .option(
      "--force",
      "also change files that changed later or went into a git commit; after an undo, --redo restores their later changes",
      false,
    )
    .option(...FLAGS.storedDb)
    .option(...FLAGS.cwd)
    .option(...FLAGS.json)
    .action(action(context, async () => (await import("../commands/undo.ts")).undoCommand));
}
