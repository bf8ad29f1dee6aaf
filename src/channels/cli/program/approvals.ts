import type { Command } from "commander";
import { FLAGS } from "../input/flags.ts";
import { action } from "./action.ts";
import type { Context } from "./context.ts";

/** `vis approvals`: lasting answers to what extensions asked for. */
export function addApprovals(program: Command, context: Context): void {
  const group = program.command("approvals").description("lasting approvals of this workspace: list, remove");
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option("--all", "of all workspaces", false)
      .option(...FLAGS.cwd)
      .option("--json", "print JSON", false);
  add("list", "list what extensions may do without asking again")
    .action(action(context, async () => (await import("../commands/approvals.ts")).listApprovals));
  add("remove", "remove lasting approvals, so that Vis asks again")
    .argument("[approval...]", "its id in the list, a unique prefix is enough; with --all and no id, all approvals")
    .action(action(context, async () => (await import("../commands/approvals.ts")).removeApprovals));
}
