import { z } from "zod";
import type { Frozen } from "./frozen.ts";

/** Why an extension is not loaded. `untrusted`: the content of a project's folder has not been trusted.
 * `misconfigured`: its section of `extensions.config` is invalid. `off`: disabled by a setting. `skipped`: it cannot be
 * loaded. */
const LEFT_OUT = ["untrusted", "misconfigured", "off", "skipped"] as const;
export type LeftOut = typeof LEFT_OUT[number];

/** An extension that was found. */
export const ExtensionSchema = z.object({
  /** Namespace, or the folder's name if it could not be read. */
  name: z.string(),
  place: z.enum(["shipped", "home", "project", "path"]),
  state: z.enum(["loaded", ...LEFT_OUT]),
  version: z.string(),
  alias: z.string(),
  doc: z.string(),
  /** "" for a shipped extension. */
  path: z.string(),
  reason: z.string().describe('Why it is not loaded; "" if it is'),
  commands: z.array(z.string()),
});

export type ExtensionFacts = Frozen<z.infer<typeof ExtensionSchema>>;

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
export const ExtensionTrustSchema = z.object({
  path: z.string(),
  hash: z.string(),
  trusted: z.boolean(),
  files: z.array(z.object({ path: z.string(), bytes: z.number().int().min(0) })),
  extensions: z.array(z.object({
    namespace: z.string(),
    version: z.string(),
    requires: z.array(z.string()),
    /** "net 127.0.0.1:80" */
    allow: z.array(z.string()),
  })),
});

export type TrustFacts = Frozen<z.infer<typeof ExtensionTrustSchema>>;

/** One check of `vis extensions check`. */
export const ExtensionCheckSchema = z.object({
  what: z.string(),
  ok: z.boolean(),
  found: z.string(),
  /** Not checked; `found` says why. */
  skipped: z.boolean().optional(),
});

export type ExtensionCheck = Frozen<z.infer<typeof ExtensionCheckSchema>>;
