import { type Command, Option } from "commander";
import { FLAGS } from "../input/flags.ts";

/** Flags of a command that keeps running and serves others: its profile and what its sessions use. */
export function addServiceFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--profile <name>",
        "locked: every wall must hold, no commands, no settings of the project, listed extensions alone, a read-only workspace, quotas (VIS_PROFILE)",
      ).choices(["open", "locked"]),
    )
    .option("--writable", "extensions of the locked profile may write into the workspace")
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(...FLAGS.db)
    .option("--cwd <dir>", "workspace folder of new conversations; the current one by default");
}
