import { Command, Option } from "commander";
import { positiveInteger } from "../input/arguments.ts";
import { FLAGS } from "../input/flags.ts";
import { action } from "./action.ts";
import type { Context } from "./context.ts";

/** `vis conversations` and `vis replay`. */
export function addConversations(program: Command, context: Context): void {
  const group = program.command("conversations").description(
    "manage stored conversations: list, show, rename, fork, retry, delete, export, import",
  );
  group.command("list")
    .description("list the latest conversations of all workspaces")
    .option("--limit <n>", "at most N conversations", positiveInteger, 20)
    .option("--here", "only those of this workspace", false)
    .addOption(output())
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../conversations/list_and_show.ts")).printConversations));
  group.command("show")
    .description("show a conversation: requests, thinking, code, results, answers")
    .argument("<id>", "conversation id; a unique prefix is enough")
    .option("--query <n>", "only this request, counted from 1", positiveInteger)
    .addOption(output())
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../conversations/list_and_show.ts")).showConversation));
  addChanges(group, context);
  addFiles(group, context);
  program.command("replay")
    .description(
      "run the recorded replies of a conversation again in a copy of the workspace, and list differences",
    )
    .argument("<id>", "conversation id; a unique prefix is enough")
    .option("--query <n>", "compare only this request, counted from 1; earlier ones run too", positiveInteger)
    .option("--in-place", "run the code in the workspace itself, which it may change", false)
    .option("--json", "print the differences as JSON", false)
    .option("--db <path>", "database file to read from (VIS_DB)")
    .option("--cwd <dir>", "workspace folder to copy (default: current folder)")
    .addHelpText("after", "\nExit codes: 0 no differences, 1 differences, 2 usage, 3 settings, 130 cancelled.")
    .action(action(context, async () => (await import("../conversations/replay.ts")).replayCommand));
}

function addChanges(group: Command, context: Context): void {
  group.command("fork")
    .description("create a branch that continues from an earlier point; prints its id")
    .argument("<id>", "id of a conversation, branch or request; a unique prefix is enough")
    .option("--at <iteration>", "step N, or REQUEST.STEP, or 0 for the beginning (default: the end)")
    .option("--json", "print the ids as JSON", false)
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../conversations/change.ts")).forkConversation));
  group.command("retry")
    .description("run a request again from the state before it; in a new branch if later requests exist")
    .argument("<id>", "conversation or branch id; a unique prefix is enough")
    .option("--query <n>", "which request, counted from 1 (default: the last one)", positiveInteger)
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option("--max-iterations <n>", "steps the request may use before it must ask for more", positiveInteger)
    .addOption(
      new Option("--output <format>", "output format of stdout").choices(["text", "json", "jsonl"]).default("text"),
    )
    .option(...FLAGS.storedDb)
    .option(...FLAGS.cwd)
    .option("-q, --quiet", "no progress on stderr", false)
    .option("-v, --verbose", "full code and results on stderr", false)
    .action(action(context, async () => (await import("../conversations/retry.ts")).retryCommand));
  group.command("rename")
    .description("rename a conversation")
    .argument("<id>", "conversation or branch id; a unique prefix is enough")
    .argument("<title...>", "new title")
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../conversations/change.ts")).renameConversation));
  group.command("delete")
    .description("delete a conversation with all its branches")
    .argument("<id>", "conversation id; a unique prefix is enough")
    .option("--yes", "confirm; without this option nothing is deleted", false)
    .option(...FLAGS.storedDb)
    .action(action(context, async () => (await import("../conversations/change.ts")).deleteConversation));
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
    .action(action(context, async () => (await import("../conversations/export.ts")).exportCommand));
  group.command("import")
    .description("import an exported conversation into this workspace under new ids; prints its id, runs nothing")
    .argument("<file>", "JSON file written by vis conversations export")
    .addOption(output())
    .option("--trust", "do not ask about functions and classes in the file", false)
    .option("-q, --quiet", "print nothing on stderr", false)
    .option(...FLAGS.storedDb)
    .option("--cwd <dir>", "workspace folder to import into (default: current folder)")
    .action(action(context, async () => (await import("../conversations/export.ts")).importCommand));
}

function output(): Option {
  return new Option("--output <format>", "output format of stdout").choices(["text", "json"]).default("text");
}
