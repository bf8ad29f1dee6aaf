import { type Command, Option } from "commander";
import { FLAGS } from "../input/flags.ts";

/** Flags of a command that keeps running and serves others: its profile and what its sessions use. */
export function addServiceFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--profile <name>",
        "locked requires every sandbox wall and allows no commands, no project settings, only listed extensions and a read-only workspace, with quotas (VIS_PROFILE)",
      ).choices(["open", "locked"]),
    )
    .option("--writable", "let extensions write to the workspace in the locked profile")
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(...FLAGS.db)
    .option(...FLAGS.shell)
    .option("--cwd <dir>", "workspace folder of new conversations (default: current folder)");
}
