import { type Command, Option } from "commander";
import { positiveInteger } from "../input/arguments.ts";
import { FLAGS } from "../input/flags.ts";
import { action } from "./action.ts";
import type { Context } from "./context.ts";

export function addUndo(program: Command, context: Context): void {
  program.command("undo")
    .description("undo file changes, by default those of the last request")
    .option("--list", "list the changes that can be undone, newest first", false)
    .option("--steps <n>", "undo the last N changes", positiveInteger)
    .addOption(
      new Option("--scope <what>", "undo all changes of the latest request (query), step (iteration) or call (step)")
        .choices([
          "query",
          "iteration",
          "step",
        ]),
    )
    .option("--conversation <id>", "only this conversation or branch; a unique prefix is enough")
    .option("--redo", "reapply the last undo", false)
    .option("--dry-run", "show the changes that would be undone, and change nothing", false)
    .option("--force", "also undo in files that others have changed since, which loses their changes", false)
    .option(...FLAGS.storedDb)
    .option(...FLAGS.cwd)
    .option("--json", "print JSON", false)
    .action(action(context, async () => (await import("../commands/undo.ts")).undoCommand));
}
