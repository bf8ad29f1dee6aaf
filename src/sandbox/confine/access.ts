export interface GrantedPath {
  /** Absolute and real: it contains no link. */
  readonly path: string;
  readonly folder: boolean;
}

/** The kernel wall allows this access for the grants of a child. */
export interface KernelAccess {
  readonly read: readonly GrantedPath[];
  readonly write: readonly GrantedPath[];
  /** TCP ports that it may connect to. */
  readonly ports: readonly number[];
}

export const NO_ACCESS: KernelAccess = { read: [], write: [], ports: [] };
