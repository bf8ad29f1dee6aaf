import { Command, Option } from "commander";
import { positiveInteger } from "../input/arguments.ts";
import type { Context } from "./context.ts";
import { FLAGS } from "../input/flags.ts";
import type { ExportFormat } from "../conversations/export.ts";
import type { ReplayFlags } from "../conversations/replay.ts";
import type { RetryFlags } from "../conversations/retry.ts";

/** `vis conversations` and `vis replay`. */
export function addConversations(program: Command, { services, io, finish }: Context): void {
  const group = program.command("conversations").description(
    "what is stored: list, show, rename, fork, retry, delete, export, import",
  );
  group.command("list")
    .description("the newest conversations, those of all workspaces")
    .option("--limit <n>", "how many at most", positiveInteger, 20)
    .addOption(output())
    .option(...FLAGS.storedDb)
    .action(async (flags: { limit: number; output: "text" | "json"; db?: string }) => {
      const { printConversations: listConversations } = await import("../conversations/list_and_show.ts");
      finish(await listConversations({ services, io, flags }));
    });
  group.command("show")
    .description("one conversation: requests, thinking, code, results, answers")
    .argument("<id>", "its id, or the beginning of it")
    .option("--query <n>", "only this query, counted from 1", positiveInteger)
    .addOption(output())
    .option(...FLAGS.storedDb)
    .action(async (id: string, flags: { query?: number; output: "text" | "json"; db?: string }) => {
      const { showConversation } = await import("../conversations/list_and_show.ts");
      finish(await showConversation(id, { services, io, flags }));
    });
  addChanges(group, { services, io, finish });
  addFiles(group, { services, io, finish });
  program.command("replay")
    .description(
      "run the recorded replies of a conversation again, in a copy of the workspace, and list what comes out otherwise",
    )
    .argument("<id>", "conversation, or the beginning of its id")
    .option("--query <n>", "compare only this query, counted from 1; those before it run too", positiveInteger)
    .option("--in-place", "run the blocks in the workspace itself, which they may change", false)
    .option("--json", "print the differences as JSON", false)
    .option("--db <path>", "database file to read from (VIS_DB)")
    .option("--cwd <dir>", "workspace folder of which the blocks get a copy; the current one by default")
    .addHelpText("after", "\nExit codes: 0 no difference, 1 one or more, 2 usage, 3 settings, 130 cancelled.")
    .action(async (id: string, flags: ReplayFlags) => {
      const { replayCommand } = await import("../conversations/replay.ts");
      finish(await replayCommand(id, { services, io, flags }));
    });
}

function addChanges(group: Command, { services, io, finish }: Context): void {
  group.command("fork")
    .description("a new branch that goes on from an earlier point; prints its id")
    .argument("<id>", "conversation, branch or query, or the beginning of it")
    .option(
      "--at <iteration>",
      "N counts over all queries, QUERY.ITERATION within one, 0 is the beginning; the end by default",
    )
    .option("--json", "print the ids as JSON", false)
    .option(...FLAGS.storedDb)
    .action(async (id: string, flags: { at?: string; json: boolean; db?: string }) => {
      const { forkConversation } = await import("../conversations/change.ts");
      finish(await forkConversation(id, { services, io, flags }));
    });
  group.command("retry")
    .description("run a query again from the state before it, in a new branch where others follow it")
    .argument("<id>", "conversation or branch, or the beginning of it")
    .option("--query <n>", "which one, counted from 1; the last by default", positiveInteger)
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option("--max-iterations <n>", "iterations the query may use before it asks for more", positiveInteger)
    .addOption(new Option("--output <format>", "what stdout gets").choices(["text", "json", "jsonl"]).default("text"))
    .option(...FLAGS.storedDb)
    .option(...FLAGS.cwd)
    .option("-q, --quiet", "no progress on stderr", false)
    .option("-v, --verbose", "whole blocks and results on stderr", false)
    .action(async (id: string, flags: RetryFlags) => {
      const { retryCommand } = await import("../conversations/retry.ts");
      finish(await retryCommand(id, { services, io, flags }));
    });
  group.command("rename")
    .description("give a conversation another title")
    .argument("<id>", "conversation or branch, or the beginning of it")
    .argument("<title...>", "the title")
    .option(...FLAGS.storedDb)
    .action(async (id: string, words: string[], flags: { db?: string }) => {
      const { renameConversation } = await import("../conversations/change.ts");
      finish(await renameConversation(id, { services, io, flags, title: words.join(" ") }));
    });
  group.command("delete")
    .description("remove a conversation with all its branches")
    .argument("<id>", "conversation, or the beginning of its id")
    .option("--yes", "do it; without this nothing happens", false)
    .option(...FLAGS.storedDb)
    .action(async (id: string, flags: { yes: boolean; db?: string }) => {
      const { deleteConversation } = await import("../conversations/change.ts");
      finish(await deleteConversation(id, { services, io, flags }));
    });
}

function addFiles(group: Command, { services, io, finish }: Context): void {
  group.command("export")
    .description(
      "write a conversation: Markdown or one page of HTML for reading, JSON with everything for vis conversations import",
    )
    .argument("<id>", "conversation or branch, or the beginning of it; JSON has all branches")
    .addOption(new Option("--format <format>", "what it becomes").choices(["md", "json", "html"]).default("md"))
    .option("-o, --output <file>", "write into this file instead of stdout")
    .option(...FLAGS.storedDb)
    .action(async (id: string, flags: { format: ExportFormat; output?: string; db?: string }) => {
      const { exportCommand } = await import("../conversations/export.ts");
      finish(await exportCommand(id, { services, io, flags }));
    });
  group.command("import")
    .description("store an exported conversation under new ids, in this workspace; prints its id, runs nothing")
    .argument("<file>", "JSON file of vis conversations export")
    .addOption(output())
    .option("-q, --quiet", "say nothing on stderr", false)
    .option(...FLAGS.storedDb)
    .option("--cwd <dir>", "workspace folder that it belongs to from now on; the current one by default")
    .action(async (file: string, flags: { output: "text" | "json"; quiet: boolean; db?: string; cwd?: string }) => {
      const { importCommand } = await import("../conversations/export.ts");
      finish(await importCommand(file, { services, io, flags }));
    });
}

function output(): Option {
  return new Option("--output <format>", "what stdout gets").choices(["text", "json"]).default("text");
}
