import type { ExtensionCommandFacts } from "../../domain/reports.ts";
import { discoverFolders } from "../../extension/loading/discover.ts";
import type { Settings } from "../settings/settings.ts";
import type { ShippedParts } from "../settings/shipped_parts.ts";
import { commandShape } from "./command_shape.ts";
import { buildRegistry } from "./extension_source.ts";

/** Commands that extensions add, for completion. */
export async function extensionCommands(
  settings: Settings,
  parts: ShippedParts,
): Promise<readonly ExtensionCommandFacts[]> {
  const { loaded } = await buildRegistry(settings, parts, { folders: await discoverFolders(settings) });
  return loaded.flatMap(({ cli = [] }) =>
    cli.map((command) => ({
      name: command.name,
      doc: command.doc.split("\n", 1)[0] ?? "",
      flags: commandShape(command).optional.map(({ key, kind }) => ({ flag: `--${key}`, kind })),
    }))
  );
}
