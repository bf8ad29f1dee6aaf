import { UsageError } from "../../domain/errors.ts";
import { nearestName } from "../../domain/kit/nearest_name.ts";
import { discoverFolders } from "../../extension/loading/discover.ts";
import type { ShippedParts } from "../settings/shipped_parts.ts";
import type { Settings } from "../settings/settings.ts";

/** Throws `UsageError` for an extension to leave out that is not there. What a folder holds is not known before it is
 * read: where there is one, every name may be right. */
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
    const hint = near === null ? `there are ${shipped.join(", ")}` : `is ${near} meant`;
    throw new UsageError(`Cannot leave out ${name}: there is no such extension; ${hint}`);
  }
}
