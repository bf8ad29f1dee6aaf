export interface GrantedPath {
  /** Absolute and real: no link in it. */
  readonly path: string;
  readonly folder: boolean;
}

/** What the kernel wall leaves open for the grants of a child. */
export interface KernelAccess {
  readonly read: readonly GrantedPath[];
  readonly write: readonly GrantedPath[];
  /** TCP ports to connect to. */
  readonly ports: readonly number[];
}

export const NO_ACCESS: KernelAccess = { read: [], write: [], ports: [] };
