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
    "what gives the sandbox its functions: list, show, check, new, add, remove, trust",
  );
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option(...FLAGS.cwd)
      .option("--json", "print as JSON", false);
  const command = async (flags: Flags) => {
    const { ExtensionsCommand } = await import("../commands/extensions.ts");
    return new ExtensionsCommand({ services, io, flags });
  };
  add("list", "extensions that a session here would load, and why others are left out")
    .action(async (flags: Flags) => finish(await (await command(flags)).list()));
  add("show", "one extension: where it is from and what the model reads of it")
    .argument("<name>", "its namespace or alias")
    .action(async (name: string, flags: Flags) => finish(await (await command(flags)).show(name)));
  add("check", "load a folder's extensions and make the calls of its checks.json; without one, load all that is found")
    .argument("[path]", "folder with a vis.json")
    .action(async (path: string | undefined, flags: Flags) => finish(await (await command(flags)).check(path ?? null)));
  add("new", "write an extension that works, to begin with")
    .argument("<name>", "small letters; a folder of this name is made")
    .action(async (name: string, flags: Flags) => finish(await (await command(flags)).create(name)));
  add("add", "copy an extension to $VIS_HOME/extensions")
    .argument("<from>", "a folder, a .tgz or .tar archive, or npm:name@version")
    .option("--force", "replace the one that is there", false)
    .action(async (from: string, flags: Flags & { force: boolean }) =>
      finish(await (await command(flags)).add(from, { replace: flags.force }))
    );
  add("remove", "delete an extension from $VIS_HOME/extensions")
    .argument("<name>", "its namespace or the name of its folder")
    .action(async (name: string, flags: Flags) => finish(await (await command(flags)).remove(name)));
  add("trust", "show the extensions of this project with their hashes; with --yes, let them load")
    .argument("[path]", "folder of one extension; those of the project by default")
    .option("-y, --yes", "trust what is shown", false)
    .option("--hash <sha256>", "trust only this content (12 characters will do)")
    .option("--remove", "trust it no longer", false)
    .action(async (path: string | undefined, flags: Flags & { yes: boolean; hash?: string; remove: boolean }) =>
      finish(await (await command(flags)).trust(path ?? null, flags))
    );
}
