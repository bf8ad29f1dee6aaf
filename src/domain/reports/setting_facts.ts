/** A setting as channels show it. What may be a secret is masked. */
export interface SettingFacts {
  readonly key: string;
  readonly value: unknown;
  /** Who has the last word. */
  readonly layer: string;
  /** A path, a variable or a flag; "" for a default. */
  readonly where: string;
  readonly doc: string;
  readonly type: string;
  /** Whether the file of a project may set it. */
  readonly project: boolean;
  /** Everybody who says something about it, in rising order. */
  readonly layers: readonly { readonly layer: string; readonly where: string; readonly value: unknown }[];
}

/** What a change of a file came to. */
export interface SettingChange {
  readonly key: string;
  readonly path: string;
  /** Null where it was taken out. */
  readonly value: unknown;
  readonly changed: boolean;
  /** Who says otherwise and has the last word, "" where nobody does. */
  readonly overruled: string;
}

/** The file of a project, and what of it only a trusted file may say. */
export interface ConfigTrustFacts {
  readonly path: string;
  readonly sha256: string;
  readonly trusted: boolean;
  readonly keys: readonly { readonly key: string; readonly value: unknown }[];
}
