import { Command, InvalidArgumentError, Option } from "commander";
import type { Io, Services } from "../channel.ts";

interface Context {
  readonly services: Services;
  readonly io: Io;
  finish(code: number): void;
}

/** `vis conversations` and `vis replay`. */
export function addConversations(program: Command, { services, io, finish }: Context): void {
  const group = program.command("conversations").description("what is stored: list, show");
  group.command("list")
    .description("the newest conversations, those of all workspaces")
    .option("--limit <n>", "how many at most", positive, 20)
    .addOption(output())
    .option("--db <path>", "database file (VIS_DB)")
    .action(async (flags: { limit: number; output: "text" | "json"; db?: string }) => {
      const { listConversations } = await import("./conversations_command.ts");
      finish(await listConversations({ services, io, flags }));
    });
  group.command("show")
    .description("one conversation: requests, thinking, code, results, answers")
    .argument("<id>", "its id, or the first 8 characters of it")
    .option("--query <n>", "only this query, counted from 1", positive)
    .addOption(output())
    .option("--db <path>", "database file (VIS_DB)")
    .action(async (id: string, flags: { query?: number; output: "text" | "json"; db?: string }) => {
      const { showConversation } = await import("./conversations_command.ts");
      finish(await showConversation(id, { services, io, flags }));
    });
  program.command("replay")
    .description("run the recorded replies of a conversation again and list what comes out otherwise")
    .argument("<id>", "conversation, or the first 8 characters of its id")
    .option("--query <n>", "compare only this query, counted from 1; those before it run too", positive)
    .option("--json", "print the differences as JSON", false)
    .option("--db <path>", "database file to read from (VIS_DB)")
    .option("--cwd <dir>", "workspace folder in which the blocks run, for real; the current one by default")
    .addHelpText("after", "\nExit codes: 0 nothing differs, 1 something does, 2 usage, 3 configuration, 130 cancelled.")
    .action(async (id: string, flags: { query?: number; json: boolean; db?: string; cwd?: string }) => {
      const { replayCommand } = await import("./replay_command.ts");
      finish(await replayCommand(id, { services, io, flags }));
    });
}

function output(): Option {
  return new Option("--output <format>", "what stdout gets").choices(["text", "json"]).default("text");
}

function positive(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 1) throw new InvalidArgumentError("It must be a whole number of at least 1");
  return n;
}
