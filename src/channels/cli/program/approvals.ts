import type { Command } from "commander";
import type { ApprovalsFlags } from "../commands/approvals.ts";
import { FLAGS } from "../input/flags.ts";
import type { Context } from "./context.ts";

/** `vis approvals`: lasting answers to what extensions asked for. */
export function addApprovals(program: Command, { services, io, finish }: Context): void {
  const group = program.command("approvals").description("lasting approvals of this workspace: list, remove");
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option("--all", "of all workspaces", false)
      .option(...FLAGS.cwd)
      .option("--json", "print JSON", false);
  const load = async () => await import("../commands/approvals.ts");
  add("list", "list what extensions may do without asking again")
    .action(async (flags: ApprovalsFlags) => {
      const { listApprovals } = await load();
      finish(await listApprovals({ services, io, flags }));
    });
  add("remove", "remove lasting approvals, so that Vis asks again")
    .argument("[approval...]", "its id in the list, a unique prefix is enough; with --all and no id, all approvals")
    .action(async (ids: string[], flags: ApprovalsFlags) => {
      const { removeApprovals } = await load();
      finish(await removeApprovals(ids, { services, io, flags }));
    });
}
