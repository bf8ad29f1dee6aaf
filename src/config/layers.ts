import type { z } from "zod";
import type { SettingFacts } from "../domain/admin_reports.ts";
import { ConfigError } from "../domain/errors.ts";
import { inputFault } from "../domain/input_fault.ts";
import type { SettingsSection } from "../domain/settings_section.ts";
import { PROJECT_KEYS } from "./defaults.ts";

export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

/** A repository can bring this file. */
export interface ProjectFile extends ConfigFile {
  /** Resolves with true if the user trusted this exact text. */
  readonly trusted: () => Promise<boolean>;
  /** Null means that the environment names no home folder. */
  readonly userPath: string | null;
}

type LayerName = "default" | "user" | "project" | "environment" | "run" | "flags";

export interface ConfigLayer {
  readonly layer: LayerName;
  readonly values: Readonly<Record<string, unknown>>;
  readonly where: (key: string) => string;
  /** Each sentence names a key of an earlier version that has no effect. */
  readonly ignored?: readonly string[];
}

function mergeLayers(layers: readonly ConfigLayer[], lists: readonly string[]): Readonly<Record<string, unknown>> {
  const ofWorkspace = layers.flatMap(({ layer, values: { secrets } }) =>
    layer === "project" && Array.isArray(secrets) ? secrets : []
  );
  return layers.reduce<Readonly<Record<string, unknown>>>((merged, { layer, values: given }) => {
    const values = layer === "project" ? withinLimits(given, merged) : given;
    const isException = hasOnlyExceptions(values);
    const replaces = layer === "run" && Array.isArray(values["secrets"]) && !isException;
    const below = replaces ? { ...merged, secrets: ofWorkspace } : merged;
    const adds = layer === "project" || layer === "run" || isException;
    return joined(below, values, { path: "", lists: adds ? [...lists, "secrets"] : lists });
  }, {});
}

/** Larger limits make model calls larger, so a workspace can only lower the limits of `context`. */
function withinLimits(values: ConfigLayer["values"], below: ConfigLayer["values"]): ConfigLayer["values"] {
  if (!isObject(values["context"])) return values;
  const context = entriesOf(values["context"]).map(([key, value]) => {
    const limit = valueAt(below, ["context", key]);
    return [key, typeof value === "number" && typeof limit === "number" ? Math.min(value, limit) : value];
  });
  return { ...values, context: Object.fromEntries(context) };
}

/** The user's own list of secrets replaces the default list, and the list for one run replaces the user's. Each keeps the
 * workspace's patterns. Exceptions only add to the list, because a list of only exceptions would make no file secret. */
export function hasOnlyExceptions({ secrets }: ConfigLayer["values"]): boolean {
  return Array.isArray(secrets) && secrets.length > 0 &&
    secrets.every((one) => typeof one === "string" && one.startsWith("!"));
}

function joined(
  below: unknown,
  above: unknown,
  { path, lists }: { readonly path: string; readonly lists: readonly string[] },
): Readonly<Record<string, unknown>> {
  const merged = new Map(entriesOf(below));
  for (const [key, value] of entriesOf(above)) {
    const before = merged.get(key);
    const at = path === "" ? key : `${path}.${key}`;
    if (lists.includes(at) && Array.isArray(before) && Array.isArray(value)) {
      merged.set(key, [...new Set([...before, ...value])]);
    } else merged.set(key, isObject(value) && isObject(before) ? joined(before, value, { path: at, lists }) : value);
  }
  return Object.fromEntries(merged);
}

export function valueAt(values: unknown, path: readonly string[]): unknown {
  let value = values;
  for (const step of path) value = new Map(entriesOf(value)).get(step);
  return value;
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const PLACE = "extensions.config";

/** A section is in `extensions.config` under its namespace. Some sections also have a shorter name at the top level. */
export class SettingsSections {
  readonly all: readonly SettingsSection[];

  constructor(all: readonly SettingsSection[] = []) {
    this.all = all;
  }

  get projectKeys(): readonly string[] {
    const own = this.all.flatMap(({ namespace, project }) =>
      project.flatMap((key) => this.spellings(`${PLACE}.${namespace}.${key}`))
    );
    return [...PROJECT_KEYS, ...own];
  }

  /** Even a trusted file of a workspace must not set these keys. */
  get ownKeys(): readonly string[] {
    const own = this.all.flatMap(({ namespace, own }) =>
      own.flatMap((key) => this.spellings(`${PLACE}.${namespace}.${key}`))
    );
    return ["readFolders", "telegram.allow", ...own];
  }

  path(key: string): readonly string[] {
    const [own] = this.all.filter(({ namespace }) => isAtOrBelow(key, `${PLACE}.${namespace}`))
      .toSorted((a, b) => b.namespace.length - a.namespace.length);
    if (!own) return key.split(".");
    const place = `${PLACE}.${own.namespace}`;
    return [...PLACE.split("."), own.namespace, ...key === place ? [] : key.slice(place.length + 1).split(".")];
  }

  async check(key: string, { values }: Pick<ConfigLayer, "values">): Promise<void> {
    const [, , namespace = ""] = this.path(key);
    const own = this.all.find((one) => one.namespace === namespace);
    const section = valueAt(values, [...PLACE.split("."), namespace]);
    if (!own || section === undefined) return;
    const [issue] = (await own.schema()).safeParse(section, { error: inputFault }).error?.issues ?? [];
    if (!issue) return;
    const where = issue.path.map(String).join(".");
    throw new ConfigError(`${where === "" ? "the section" : where} ${issue.message}`);
  }

  spellings(key: string): readonly string[] {
    for (const { name, namespace } of this.#named) {
      const pair = [name, `${PLACE}.${namespace}`];
      const found = pair.find((one) => isAtOrBelow(key, one));
      if (found !== undefined) return pair.map((one) => one + key.slice(found.length));
    }
    return [key];
  }

  /** All places of the setting at `path`, the shorter one first. */
  places(path: readonly string[]): readonly (readonly string[])[] {
    for (const { name, namespace } of this.#named) {
      const pair = [[name], [...PLACE.split("."), namespace]];
      const found = pair.find((one) => one.every((step, at) => step === path[at]));
      if (found !== undefined) return pair.map((one) => [...one, ...path.slice(found.length)]);
    }
    return [path];
  }

  /** Within a layer, a section at the top level takes precedence over `extensions.config`. */
  merged(layers: readonly ConfigLayer[]): Readonly<Record<string, unknown>> {
    return mergeLayers(layers.flatMap((layer) => this.#placed(layer)), this.united);
  }

  /** A layer only adds entries to these lists, because it must not undo denials of another layer, or hide added
   * folders. */
  get united(): readonly string[] {
    const own = this.all.flatMap(({ namespace, project }) => project.map((key) => `${PLACE}.${namespace}.${key}`));
    return ["extensions.deny", "readFolders", ...own];
  }

  /** Each layer combines `secrets` in its own way, so the result is then null. */
  combined(key: string): SettingFacts["list"] {
    if (key === "secrets") return null;
    return this.spellings(key).some((one) => this.united.includes(one)) ? "extended" : "replaced";
  }

  async atTop(): Promise<Readonly<Record<string, z.ZodType>>> {
    return Object.fromEntries(await Promise.all(this.#named.map(async ({ name, schema }) => [name, await schema()])));
  }

  async defaults(): Promise<ConfigLayer> {
    const found = this.all.map(async ({ namespace, schema }) => {
      const { data } = (await schema()).safeParse({}); // A section with a required setting has no defaults.
      return data === undefined ? [] : [[namespace, data]];
    });
    const config = Object.fromEntries((await Promise.all(found)).flat());
    return { layer: "default", values: { extensions: { config } }, where: () => "" };
  }

  get #named(): readonly (SettingsSection & { readonly name: string })[] {
    return this.all.flatMap((one) => one.name === null ? [] : [{ ...one, name: one.name }]);
  }

  #placed(layer: ConfigLayer): readonly ConfigLayer[] {
    const { values } = layer;
    const there = this.#named.filter(({ name }) => Object.hasOwn(values, name));
    if (there.length === 0) return [layer];
    const rest = Object.entries(values).filter(([key]) => there.every(({ name }) => name !== key));
    const config = Object.fromEntries(there.map(({ name, namespace }) => [namespace, values[name]]));
    return [{ ...layer, values: Object.fromEntries(rest) }, { ...layer, values: { extensions: { config } } }];
  }
}

function isAtOrBelow(key: string, place: string): boolean {
  return key === place || key.startsWith(`${place}.`);
}
