import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ExtensionCommandFacts } from "../../domain/reports/extension_report.ts";
import { discoverFolders } from "../../extension/loading/discover.ts";
import type { Extension } from "../../extension/spec.ts";
import { commandShape } from "./command_shape.ts";
import { buildRegistry } from "./extension_source.ts";
import type { ShippedParts } from "../settings/shipped_parts.ts";
import type { Settings } from "../settings/settings.ts";
import { writeConfigFile } from "../settings/write_config_file.ts";

/** Most entries of a folder that are checked for changes. No folder with more is expected to add commands. */
const MAX_FILES = 500;

interface Kept {
  readonly key: string;
  readonly commands: readonly ExtensionCommandFacts[];
}

/** Commands that extensions add, for completion. Completion cannot wait until all extensions are loaded, so the list is
 * cached in the home folder until an extension, or the choice of which ones load, has changed. */
export async function extensionCommands(settings: Settings, parts: ShippedParts): Promise<Kept["commands"]> {
  const folders = await discoverFolders(settings);
  const key = await stateOf(folders.map(({ path }) => path), { settings, parts });
  const file = settings.home === null ? null : join(settings.home, "cache", "extension_commands.json");
  const kept = file === null ? null : await read(file);
  if (kept?.key === key) return kept.commands;
  const { loaded } = await buildRegistry(settings, parts, { folders });
  const commands = loaded.flatMap(({ cli = [] }: Extension) =>
    cli.map((command): ExtensionCommandFacts => ({
      name: command.name,
      doc: command.doc.split("\n", 1)[0] ?? "",
      flags: commandShape(command).optional.map(({ key, kind }) => ({ flag: `--${key}`, kind })),
    }))
  );
  // A list that cannot be saved is built again next time.
  if (file !== null) {
    await writeConfigFile(file, { text: JSON.stringify({ key, commands }), follow: false }).catch(() => {});
  }
  return commands;
}

async function read(file: string): Promise<Kept | null> {
  try {
    return JSON.parse(await Deno.readTextFile(file)) as Kept; // only Vis writes this file
  } catch {
    return null;
  }
}

/** A value that changes when the loaded extensions may have changed. */
async function stateOf(
  folders: readonly string[],
  { settings: { config, home }, parts }: { readonly settings: Settings; readonly parts: ShippedParts },
): Promise<string> {
  const { allow, deny, config: own } = config.extensions;
  const program = Deno.build.standalone ? stampOf(Deno.execPath()) : "";
  const trust = home === null ? "" : stampOf(join(home, "trusted_extensions.json"));
  const facts = [
    program,
    Object.keys(parts.shipped),
    allow,
    deny,
    own,
    trust,
    ...await Promise.all(folders.map(filesOf)),
  ];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

/** Names, sizes and times of the files in a folder. */
async function filesOf(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  const walk = async (path: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(path)) {
      if (found.length >= MAX_FILES) return;
      found.push(stampOf(join(path, name)));
      if (isDirectory && !name.startsWith(".") && name !== "node_modules") await walk(join(path, name));
    }
  };
  await walk(folder).catch(() => {});
  return found.sort();
}

function stampOf(path: string): string {
  try {
    const { mtime, size } = Deno.statSync(path);
    return `${path} ${size} ${mtime?.getTime()}`;
  } catch {
    return `${path} none`;
  }
}
