import type { Command } from "commander";
import type { UpdateFlags } from "../commands/update.ts";
import type { Context } from "./context.ts";

/** `vis update`. */
export function addUpdate(program: Command, { services, io, finish }: Context): void {
  program.command("update").alias("upgrade")
    .description("replace this executable with that of a newer release, after its signature was verified")
    .option("--check", "only tell which release there is, and what is new", false)
    .option("--from <place>", "address (https) or folder with the files of a release (update.from)")
    .option("--key <key>", "public key of minisign that the release is signed with (update.publicKey)")
    .option("--force", "install it also if it is older or the same", false)
    .addHelpText("after", EXAMPLES)
    .action(async (flags: UpdateFlags) => {
      const { updateCommand } = await import("../commands/update.ts");
      finish(await updateCommand({ services, io, flags }));
    });
}

const EXAMPLES = `
Examples:
  vis config set update.from https://example.org/vis/latest
  vis config set update.publicKey RWQ…
  vis update --check
  vis update

Nothing is looked for unless you ask. The executable from before is kept beside
the new one as vis.old. A copy run from source is updated by git pull.`;
