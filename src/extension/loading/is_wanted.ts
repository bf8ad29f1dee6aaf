/** What says which extensions are loaded. */
export interface Wants {
  /** Namespaces, or names of shipped extensions: exactly those where not null. */
  readonly allow?: readonly string[] | null;
  readonly deny?: readonly string[];
  /** Namespace to its section of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** What is not switched on is loaded too, for those who look at it. */
  readonly off?: boolean | undefined;
  /** The locked profile. */
  readonly locked?: { readonly writable: boolean } | undefined;
}

/** Of an extension, or of its description. */
interface Facts {
  readonly namespace: string;
  readonly optIn?: boolean | undefined;
}

/** Whether an extension is loaded, which goes by `name` in the lists too. */
export function isWanted(name: string, { namespace, optIn = false }: Facts, wants: Wants): boolean {
  const { allow = null, deny = [], config = {}, off = false, locked } = wants;
  const isListed = (list: readonly string[]): boolean => list.includes(namespace) || list.includes(name);
  if (isListed(deny) || allow !== null && !isListed(allow)) return false;
  if (!optIn) return true;
  return !locked && (off || allow !== null || Object(config[namespace]).enabled === true);
}
