export interface GrantedPath {
  /** An absolute, real path, without links. */
  readonly path: string;
  readonly folder: boolean;
}

/** The access that the operating system allows a child for its grants. */
export interface KernelAccess {
  readonly read: readonly GrantedPath[];
  readonly write: readonly GrantedPath[];
  readonly ports: readonly number[];
}

export const NO_ACCESS: KernelAccess = { read: [], write: [], ports: [] };
