import type { Command } from "commander";
import { FLAGS } from "../input/flags.ts";
import { action } from "./action.ts";
import type { Context } from "./context.ts";

/** `vis extensions`: which extensions exist and which may load. */
export function addExtensions(program: Command, context: Context): void {
  const group = program.command("extensions").description(
    "manage extensions: list, show, check, test, new, add, remove, trust",
  );
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option(...FLAGS.cwd)
      .option("--json", "print as JSON", false);
  const load = async () => await import("../commands/extensions.ts");
  add("list", "list the extensions that load in this workspace, and why others do not")
    .action(action(context, async () => (await load()).listExtensions));
  add("show", "show an extension: its source and what the model reads about it")
    .argument("<name>", "namespace or alias")
    .action(action(context, async () => (await load()).showExtension));
  add(
    "check",
    "load the extensions of a folder, run their parts and its checks.json; without a path, load all extensions",
  )
    .argument("[path]", "folder with a vis.json")
    .option("--watch", "check the folder again whenever a file of it changes", false)
    .action(action(context, async () => (await load()).extensionsCheck));
  add("test", "run the tests of an extension's folder")
    .argument("[path]", "folder with a vis.json (default: this one)")
    .action(action(context, async () => (await load()).extensionsTest));
  add("new", "scaffold a working extension")
    .argument("<name>", "lower-case name, also of the new folder")
    .action(action(context, async () => (await load()).makeExtension));
  add("add", "copy an extension to $VIS_HOME/extensions")
    .argument("<from>", "a folder, a .tgz or .tar archive, or npm:name@version")
    .option("--force", "replace an existing extension", false)
    .action(action(context, async () => (await load()).addExtension));
  add("remove", "delete an extension from $VIS_HOME/extensions")
    .argument("<name>", "namespace or folder name")
    .action(action(context, async () => (await load()).removeExtension));
  add("trust", "show the extensions of this project with their hashes; with --yes, trust them")
    .argument("[path]", "folder of one extension (default: all of the project)")
    .option("-y, --yes", "trust the listed extensions", false)
    .option("--hash <sha256>", "trust only this content; 12 characters are enough")
    .option("--remove", "stop trusting it", false)
    .action(action(context, async () => (await load()).trustExtensions));
}
