export interface GrantedPath {
  /** The path is absolute and real, so it contains no links. */
  readonly path: string;
  readonly folder: boolean;
}

export interface KernelAccess {
  readonly read: readonly GrantedPath[];
  readonly write: readonly GrantedPath[];
  readonly ports: readonly number[];
}

export const NO_ACCESS: KernelAccess = { read: [], write: [], ports: [] };
