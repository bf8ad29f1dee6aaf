/** A setting as channels show it. Possible secrets are masked. */
export interface SettingFacts {
  readonly key: string;
  readonly value: unknown;
  /** The layer that sets the value in effect. */
  readonly layer: string;
  /** A path, a variable or a flag; "" for a default. */
  readonly where: string;
  readonly doc: string;
  readonly type: string;
  /** Whether a project's settings file may set it. */
  readonly project: boolean;
  /** All layers that set it, in increasing precedence. */
  readonly layers: readonly { readonly layer: string; readonly where: string; readonly value: unknown }[];
}

/** The result of changing a settings file. */
export interface SettingChange {
  readonly key: string;
  readonly path: string;
  /** Null if it was removed. */
  readonly value: unknown;
  readonly changed: boolean;
  /** The layer that overrides it; "" if none does. */
  readonly overruled: string;
}

/** A project's settings file, and which of its settings need trust. */
export interface ConfigTrustFacts {
  readonly path: string;
  readonly sha256: string;
  readonly trusted: boolean;
  readonly keys: readonly { readonly key: string; readonly value: unknown }[];
}
