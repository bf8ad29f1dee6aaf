/** What active extensions grant to the sandbox itself. The empty value grants nothing. */
export interface Grants {
  readonly net: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly env: readonly string[];
}

export const NO_GRANTS: Grants = { net: [], read: [], write: [], env: [] };
