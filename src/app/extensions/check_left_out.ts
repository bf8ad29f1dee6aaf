import { UsageError } from "../../domain/errors.ts";
import { nearestName } from "../../domain/kit/names.ts";
import { discoverFolders } from "../../extension/loading/discover.ts";
import type { Settings } from "../settings/settings.ts";
import type { ShippedParts } from "../settings/shipped_parts.ts";

/** Throws `UsageError` if an extension to leave out does not exist. The extensions in a folder are unknown until it is
 * read: if there is a folder, every name may be valid. */
export async function checkLeftOut(
  names: readonly string[],
  { settings, parts }: { readonly settings: Settings; readonly parts: Pick<ShippedParts, "shipped" | "described"> },
): Promise<void> {
  if (names.length === 0 || (await discoverFolders(settings)).length > 0) return;
  const shipped = Object.keys(parts.shipped);
  const known = [...shipped, ...shipped.flatMap((name) => parts.described[name]?.namespace ?? [])];
  for (const name of names) {
    if (known.includes(name)) continue;
    const near = nearestName(name, known);
    const hint = near === null ? `there are ${shipped.join(", ")}` : `did you mean ${near}?`;
    throw new UsageError(`Cannot leave out ${name}: unknown extension; ${hint}`);
  }
}
