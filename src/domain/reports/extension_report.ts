/** Why an extension is not loaded. `untrusted`: nobody has trusted this content of a project's folder. `misconfigured`:
 * its section of `extensions.config` is wrong. `off`: a setting switches it off. `skipped`: it cannot be loaded. */
export type LeftOut = "untrusted" | "misconfigured" | "off" | "skipped";

/** An extension as it was found. */
export interface ExtensionFacts {
  /** Namespace, or the folder's name where it could not be read. */
  readonly name: string;
  readonly place: "shipped" | "home" | "project" | "path";
  readonly state: "loaded" | LeftOut;
  readonly version: string;
  readonly alias: string;
  readonly doc: string;
  /** "" for a shipped one. */
  readonly path: string;
  /** Why it is not loaded, "" where it is. */
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
  /** As it is typed, with its dashes. */
  readonly flag: string;
  /** "boolean" for one that takes no value. */
  readonly kind: string;
}

/** What is to be trusted: shown before it is. */
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

/** One thing that `vis extensions check` tried. */
export interface ExtensionCheck {
  readonly what: string;
  readonly ok: boolean;
  readonly found: string;
}
