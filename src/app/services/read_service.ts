import type { OpenRequest, ServiceRequest } from "../../channels/channel.ts";
import { UsageError } from "../../domain/errors.ts";
import { discoverFolders } from "../../extension/discover.ts";
import { buildRegistry, unknownExtensions } from "../extensions/extension_source.ts";
import { tryWalls } from "../session/open_session.ts";
import { type EnvironmentVariables, readSettings, type Settings, type ShippedParts } from "../settings/settings.ts";

async function lockedNote(
  { writable }: NonNullable<OpenRequest["locked"]>,
  { settings, parts }: { readonly settings: Settings; readonly parts: ServiceParts },
): Promise<string> {
  const { allow, deny } = settings.config.extensions;
  const folders = (await discoverFolders(settings)).filter(({ place }) => place !== "project");
  const { loaded } = await buildRegistry(settings, parts, { folders });
  const unknown = await unknownExtensions(allow ?? [], { settings, parts });
  const { neverLocked = [] } = settings;
  const notLoaded = (allow ?? []).filter((name) =>
    loaded.every(({ namespace, alias: { alias } }) => name !== namespace && name !== alias)
  ).map((name) =>
    unknown.find((one) => one.startsWith(`${name}: `)) ??
      `${name}: ${deny.includes(name) ? "in extensions.deny" : "not loaded"}`
  );
  const left = [...notLoaded, ...neverLocked.map((name) => `${name}: never in the locked profile`)];
  const named = loaded.map(({ alias: { alias } }) => alias).join(", ") ||
    (left.length > 0 ? "none" : "none (extensions.allow lists none)");
  return `locked: all walls active, no commands, ${
    writable ? "writable" : "read-only"
  } workspace, extensions: ${named}${left.length === 0 ? "" : `; left out: ${left.join("; ")}`}`;
}

function lockedBy(
  { profile, writable = false }: Pick<ServiceRequest, "profile" | "writable">,
  env: EnvironmentVariables,
): OpenRequest["locked"] {
  const name = profile ?? (env["VIS_PROFILE"] || "open");
  if (name === "locked") return { writable };
  if (name !== "open") {
    throw new UsageError(`Cannot use profile ${name}: Vis has no such profile; choose open or locked`);
  }
  if (writable) {
    throw new UsageError(
      "Cannot use --writable: only the locked profile has this option; add --profile locked, or leave out --writable",
    );
  }
  return undefined;
}

interface Service<R extends OpenRequest> {
  readonly request: R;
  readonly settings: Settings;
  readonly notes: readonly string[];
}

type ServiceParts = Pick<ShippedParts, "shipped"> & { readonly env: EnvironmentVariables };

export async function readService<R extends ServiceRequest>(given: R, parts: ServiceParts): Promise<Service<R>> {
  const locked = lockedBy(given, parts.env);
  if (locked && given.root) {
    throw new UsageError(
      "Cannot use --root: the locked profile opens no repository; leave out --root, or choose the open profile",
    );
  }
  if (locked && given.addDir) {
    throw new UsageError(
      "Cannot use --add-dir: the locked profile opens no other folder; leave out --add-dir, or choose the open profile",
    );
  }
  const request = { ...given, locked };
  const settings = await readSettings(request, parts.env, parts);
  if (!locked) return { request, settings, notes: [] };
  await tryWalls(settings);
  return { request, settings, notes: [await lockedNote(locked, { settings, parts })] };
}
