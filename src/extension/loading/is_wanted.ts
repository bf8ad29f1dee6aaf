/** The settings that decide which extensions are loaded. */
export interface Wants {
  /** Namespaces or names of shipped extensions. If not null, only these are loaded. */
  readonly allow?: readonly string[] | null;
  readonly deny?: readonly string[];
  /** Namespace to its section of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Loads extensions that are switched off as well, so that they can be inspected. */
  readonly off?: boolean | undefined;
  /** The locked profile. */
  readonly locked?: { readonly writable: boolean } | undefined;
}

/** From an extension or its description. */
interface Facts {
  readonly namespace: string;
  readonly onByDefault?: boolean | undefined;
}

/** Whether an extension is loaded. The lists may also refer to it by `name`. */
export function isWanted(name: string, { namespace, onByDefault }: Facts, wants: Wants): boolean {
  const { allow = null, deny = [], config = {}, off = false, locked } = wants;
  const isListed = (list: readonly string[]): boolean => list.includes(namespace) || list.includes(name);
  if (isListed(deny) || allow !== null && !isListed(allow)) return false;
  if (onByDefault === undefined) return true;
  const { enabled = onByDefault || allow !== null } = Object(config[namespace]);
  return !locked && (off || enabled === true);
}
