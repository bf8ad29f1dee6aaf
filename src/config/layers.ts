/** A file of settings; `text` is JSON with comments. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

/** The file of a workspace. Blocks can write to it. */
export interface ProjectFile extends ConfigFile {
  /** Whether the user allowed this exact text to set any key; called only if it sets a key that needs it. */
  readonly trusted: () => Promise<boolean>;
  /** The user's own file, where the key belongs; null if the machine has no home folder. */
  readonly userPath: string | null;
}

/** The layers in ascending order: each overrides those before it. */
export type LayerName = "default" | "user" | "project" | "environment" | "flags";

/** The settings of one layer. */
export interface ConfigLayer {
  readonly layer: LayerName;
  /** Shaped like `Config`, with only the keys that are set. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Where a key is set: a path, a variable or a flag. */
  readonly where: (key: string) => string;
  /** A sentence for each key of a file that was a setting of an earlier version; it has no effect. */
  readonly ignored?: readonly string[];
}

/** Merges all layers: objects are merged, other values are replaced. For the lists that `united` names, each layer only
 * adds entries, so that none can undo what another forbids. */
export function mergeLayers(
  layers: readonly ConfigLayer[],
  united: readonly string[] = [],
): Readonly<Record<string, unknown>> {
  const lists = ["extensions.deny", ...united];
  return layers.reduce<Readonly<Record<string, unknown>>>(
    // The user's own list replaces the default one; a project's is added to it.
    (merged, { layer, values }) =>
      joined(merged, values, { path: "", lists: layer === "project" ? [...lists, "secrets"] : lists }),
    {},
  );
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

/** The value at a path; undefined if there is none. */
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
