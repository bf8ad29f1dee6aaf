/** A file of settings; `text` is JSON with comments. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

/** The file of a workspace. Blocks can write it. */
export interface ProjectFile extends ConfigFile {
  /** Whether the user allowed this very text to set any key; asked only where it does. */
  readonly trusted: () => Promise<boolean>;
  /** The user's own file, where the key belongs; null where the machine names no home folder. */
  readonly userPath: string | null;
}

/** Who says something, in rising order: each wins over those before it. */
export type LayerName = "default" | "user" | "project" | "environment" | "flags";

/** What one of them says. */
export interface ConfigLayer {
  readonly layer: LayerName;
  /** As `Config`, with no more than what is said. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Who says a key: a path, a variable or a flag. */
  readonly where: (key: string) => string;
}

/** All layers as one value: objects are joined, everything else is replaced, but each layer adds to the lists that
 * `united` names: none can take back what another one forbids. */
export function mergeLayers(
  layers: readonly ConfigLayer[],
  united: readonly string[] = [],
): Readonly<Record<string, unknown>> {
  const lists = ["extensions.deny", ...united];
  return layers.reduce<Readonly<Record<string, unknown>>>(
    (merged, { values }) => joined(merged, values, { path: "", lists }),
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

/** The value at a path, undefined where there is none. */
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
