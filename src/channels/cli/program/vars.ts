import { Command } from "commander";
import { positiveInteger } from "../input/arguments.ts";
import type { Context } from "./context.ts";
import { FLAGS } from "../input/flags.ts";
import type { VarsFlags } from "../commands/vars.ts";

export function addVars(program: Command, { services, io, finish }: Context): void {
  program.command("vars")
    .description("the variables of a conversation, their values and versions, without running anything")
    .argument("[name...]", "print the values of these")
    .option("--conversation <id>", "conversation or branch; the newest of this workspace by default")
    .option("--at <iteration>", "as they were after an iteration: N over all queries, or QUERY.ITERATION")
    .option("--history <name>", "the versions of one, with the code that made them")
    .option("--diff <name...>", "NAME V1 V2: how two versions differ; NAME alone: the last two")
    .option("--limit <n>", "how many versions --history shows, the newest", positiveInteger, 20)
    .option("--json", "print JSON", false)
    .option(...FLAGS.storedDb)
    .option(...FLAGS.cwd)
    .action(async (names: string[], flags: VarsFlags) => {
      const { varsCommand } = await import("../commands/vars.ts");
      finish(await varsCommand(names, { services, io, flags }));
    });
}
