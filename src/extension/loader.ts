import type { Log } from "../logging/log.ts";
import { installOrder } from "./install_order.ts";
import type { Extension } from "./spec.ts";
import { type NormalExtension, validateExtension } from "./validate_extension.ts";

/** Name of a shipped extension to its literal `import()`. Handed down from main.ts: src/ never imports extensions/. */
export type ShippedIndex = Readonly<Record<string, () => Promise<{ readonly default: Extension }>>>;

export interface LoadReport {
  readonly loaded: readonly Extension[];
  /** What was left out and why, in words. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

export interface LoadOptions {
  /** Names to load; all of the index where absent. A name that the index lacks is reported as skipped. */
  readonly wanted?: readonly string[];
  readonly log: Log;
}

/** Loads shipped extensions. One that fails is skipped together with those that need it; never throws. */
export async function loadShipped(index: ShippedIndex, options: LoadOptions): Promise<LoadReport> {
  const names = options.wanted ?? Object.keys(index);
  const results = await Promise.all(names.map((name) => loadOne(name, index)));
  const found = results.filter((one) => "extension" in one);
  const skipped = results.filter((one) => "reason" in one);
  const loaded = installable(found);
  for (const one of found.filter((one) => !loaded.includes(one))) {
    skipped.push({ name: one.name, reason: `Cannot load ${one.name}: ${chainOf(one, found)}` });
  }
  for (const { name } of loaded) options.log.info("extension.loaded", { ext: name });
  for (const { name, reason } of skipped) options.log.error("extension.skipped", { ext: name, error: reason });
  return { loaded: loaded.map(({ extension }) => extension), skipped };
}

interface Found {
  readonly name: string;
  readonly extension: NormalExtension;
}
type Loaded = Found | { readonly name: string; readonly reason: string };

/** Those whose requirements can be met from among themselves. */
function installable(found: readonly Found[]): readonly Found[] {
  const there = new Set<string>();
  for (let before = -1; before < there.size;) {
    before = there.size;
    for (const { extension } of found) {
      if (extension.requires.every((name) => there.has(name))) there.add(extension.namespace);
    }
  }
  return found.filter(({ extension }) => there.has(extension.namespace));
}

function chainOf(one: Found, found: readonly Found[]): string {
  try {
    installOrder([one.extension, ...found.filter((other) => other !== one).map(({ extension }) => extension)]);
    return "its requirements cannot be met";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function loadOne(name: string, index: ShippedIndex): Promise<Loaded> {
  const load = Object.hasOwn(index, name) ? index[name] : undefined;
  if (!load) {
    const known = Object.keys(index).join(", ");
    return { name, reason: `Cannot load ${name}: no such shipped extension, there are ${known}` };
  }
  try {
    return { name, extension: validateExtension((await load()).default) };
  } catch (error) {
    return { name, reason: `Cannot load ${name}: ${error instanceof Error ? error.message : String(error)}` };
  }
}
