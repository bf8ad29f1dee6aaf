import { Command } from "commander";
import { positiveInteger } from "../input/arguments.ts";
import { FLAGS } from "../input/flags.ts";
import { action } from "./action.ts";
import type { Context } from "./context.ts";

export function addVars(program: Command, context: Context): void {
  program.command("vars")
    .description("show the variables of a conversation, their values and versions; runs nothing")
    .argument("[name...]", "print the values of these variables")
    .option("--conversation <id>", "conversation or branch (default: the latest of this workspace)")
    .option("--at <iteration>", "as they were after a step: N of the conversation, or REQUEST.STEP")
    .option("--history <name>", "show the versions of a variable and the code that made them")
    .option("--diff <name...>", "NAME V1 V2 compares two versions; NAME alone the last two")
    .option("--limit <n>", "at most N versions with --history, the newest", positiveInteger, 20)
    .option("--json", "print JSON", false)
    .option(...FLAGS.storedDb)
    .option(...FLAGS.cwd)
    .action(action(context, async () => (await import("../commands/vars.ts")).varsCommand));
}
