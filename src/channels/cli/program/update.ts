import type { Command } from "commander";
import { action } from "./action.ts";
import type { Context } from "./context.ts";

/** `vis update`. */
export function addUpdate(program: Command, context: Context): void {
  program.command("update").alias("upgrade")
    .description("replace this executable with that of a newer release, after verifying its signature")
    .option("--check", "show the newest release and its changes; install nothing", false)
    .option("--from <place>", "address (https) or folder with the files of a release (update.from)")
    .option("--key <key>", "minisign public key to verify the release with (update.publicKey)")
    .option("--force", "install it even if it is the same version or an older one", false)
    .addHelpText("after", EXAMPLES)
    .action(action(context, async () => (await import("../commands/update.ts")).updateCommand));
}

const EXAMPLES = `
Examples:
  vis config set update.from https://example.org/vis/latest
  vis config set update.publicKey RWQ…
  vis update --check
  vis update

Vis never checks for updates on its own. The previous executable is kept next
to the new one as vis.old. If you run from source, use git pull.`;
