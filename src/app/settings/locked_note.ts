import type { OpenRequest } from "../../channels/channel.ts";
import type { Config } from "../../config/schema.ts";

/** What the locked profile comes to here, for its operator. */
export function lockedNote(
  { writable }: NonNullable<OpenRequest["locked"]>,
  { extensions }: Pick<Config, "extensions">,
): string {
  const named = (extensions.allow ?? []).join(", ") || "none (extensions.allow lists none)";
  return `locked: every wall holds, no commands, ${
    writable ? "writable" : "read-only"
  } workspace, extensions: ${named}`;
}
