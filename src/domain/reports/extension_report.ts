/** Why an extension is not loaded. `untrusted`: the content of a project's folder has not been trusted.
 * `misconfigured`: its section of `extensions.config` is invalid. `off`: disabled by a setting. `skipped`: it cannot be
 * loaded. */
export type LeftOut = "untrusted" | "misconfigured" | "off" | "skipped";

/** An extension that was found. */
export interface ExtensionFacts {
  /** Namespace, or the folder's name if it could not be read. */
  readonly name: string;
  readonly place: "shipped" | "home" | "project" | "path";
  readonly state: "loaded" | LeftOut;
  readonly version: string;
  readonly alias: string;
  readonly doc: string;
  /** "" for a shipped extension. */
  readonly path: string;
  /** Why it is not loaded; "" if it is. */
  readonly reason: string;
  readonly commands: readonly string[];
}

/** A command that an extension adds to the program. */
export interface ExtensionCommandFacts {
  readonly name: string;
  readonly doc: string;
  readonly flags: readonly CommandFlag[];
}

export interface CommandFlag {
  /** As typed, including its dashes. */
  readonly flag: string;
  /** "boolean" if it takes no value. */
  readonly kind: string;
}

/** What the user is about to trust. */
export interface TrustFacts {
  readonly path: string;
  readonly hash: string;
  readonly trusted: boolean;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly extensions: readonly {
    readonly namespace: string;
    readonly version: string;
    readonly requires: readonly string[];
    /** "net 127.0.0.1:80" */
    readonly allow: readonly string[];
  }[];
}

/** One check of `vis extensions check`. */
export interface ExtensionCheck {
  readonly what: string;
  readonly ok: boolean;
  readonly found: string;
}
