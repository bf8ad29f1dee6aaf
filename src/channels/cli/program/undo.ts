import { type Command, Option } from "commander";
import { positiveInteger } from "../input/arguments.ts";
import type { Context } from "./context.ts";
import { FLAGS } from "../input/flags.ts";
import type { UndoFlags } from "../commands/undo.ts";

export function addUndo(program: Command, { services, io, finish }: Context): void {
  program.command("undo")
    .description("take back what was changed in files: by the last query, unless told otherwise")
    .option("--list", "show the changes that are kept, the newest first, and change nothing", false)
    .option("--steps <n>", "take back the last so many changes", positiveInteger)
    .addOption(new Option("--scope <what>", "take back all of the newest one").choices(["query", "iteration", "step"]))
    .option("--conversation <id>", "only changes of this one (the beginning of its id will do)")
    .option("--redo", "take back the last undo", false)
    .option("--force", "also where a file was changed by somebody else since", false)
    .option(...FLAGS.cwd)
    .option("--json", "print JSON", false)
    .action(async (flags: UndoFlags) => {
      const { undoCommand } = await import("../commands/undo.ts");
      finish(await undoCommand({ services, io, flags }));
    });
}
