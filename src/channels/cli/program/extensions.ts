import type { Command } from "commander";
import type { Context } from "./context.ts";
import { FLAGS } from "../input/flags.ts";

interface Flags {
  readonly json: boolean;
  readonly cwd?: string;
}

/** `vis extensions`: which extensions exist and which may load. */
export function addExtensions(program: Command, { services, io, finish }: Context): void {
  const group = program.command("extensions").description(
    "manage extensions: list, show, check, new, add, remove, trust",
  );
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option(...FLAGS.cwd)
      .option("--json", "print as JSON", false);
  const command = async (flags: Flags) => {
    const { ExtensionsCommand } = await import("../commands/extensions.ts");
    return new ExtensionsCommand({ services, io, flags });
  };
  add("list", "list the extensions that load in this workspace, and why others do not")
    .action(async (flags: Flags) => finish(await (await command(flags)).list()));
  add("show", "show an extension: its source and what the model reads about it")
    .argument("<name>", "namespace or alias")
    .action(async (name: string, flags: Flags) => finish(await (await command(flags)).show(name)));
  add("check", "load the extensions of a folder and run its checks.json; without a path, load all extensions")
    .argument("[path]", "folder with a vis.json")
    .option("--watch", "check the folder again whenever a file of it changes", false)
    .action(async (path: string | undefined, flags: Flags & { watch: boolean }) =>
      finish(await (await command(flags)).check(path ?? null, flags))
    );
  add("new", "scaffold a working extension")
    .argument("<name>", "lower-case name, also of the new folder")
    .action(async (name: string, flags: Flags) => finish(await (await command(flags)).create(name)));
  add("add", "copy an extension to $VIS_HOME/extensions")
    .argument("<from>", "a folder, a .tgz or .tar archive, or npm:name@version")
    .option("--force", "replace an existing extension", false)
    .action(async (from: string, flags: Flags & { force: boolean }) =>
      finish(await (await command(flags)).add(from, { replace: flags.force }))
    );
  add("remove", "delete an extension from $VIS_HOME/extensions")
    .argument("<name>", "namespace or folder name")
    .action(async (name: string, flags: Flags) => finish(await (await command(flags)).remove(name)));
  add("trust", "show the extensions of this project with their hashes; with --yes, trust them")
    .argument("[path]", "folder of one extension (default: all of the project)")
    .option("-y, --yes", "trust the listed extensions", false)
    .option("--hash <sha256>", "trust only this content; 12 characters are enough")
    .option("--remove", "stop trusting it", false)
    .action(async (path: string | undefined, flags: Flags & { yes: boolean; hash?: string; remove: boolean }) =>
      finish(await (await command(flags)).trust(path ?? null, flags))
    );
}
