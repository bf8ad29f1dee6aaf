import type { OpenRequest, ServiceRequest } from "../../channels/channel.ts";
import type { ShippedParts } from "../settings/shipped_parts.ts";
import { lockedBy } from "../settings/locked_by.ts";
import { lockedNote } from "../settings/locked_note.ts";
import { type EnvironmentVariables, readSettings, type Settings } from "../settings/settings.ts";
import { tryWalls } from "../session/try_walls.ts";

/** What a channel that serves others begins with. */
export interface Service<R extends OpenRequest> {
  /** With what the profile asks for. */
  readonly request: R;
  readonly settings: Settings;
  /** What the profile comes to, for its operator. */
  readonly notes: readonly string[];
}

type ServiceParts = Pick<ShippedParts, "described" | "settings"> & { readonly env: EnvironmentVariables };

/** Reads profile and settings. Nothing is open afterwards; where the profile is locked, every wall was tried. Throws
 * `ConfigError` and `UsageError`. */
export async function readService<R extends ServiceRequest>(given: R, parts: ServiceParts): Promise<Service<R>> {
  const locked = lockedBy(given, parts.env);
  const request = { ...given, locked };
  const settings = await readSettings(request, parts.env, parts);
  if (!locked) return { request, settings, notes: [] };
  await tryWalls(settings);
  return { request, settings, notes: [lockedNote(locked, settings.config)] };
}
