import { z } from "zod";
import type { Frozen } from "./frozen.ts";

/** A setting as channels show it. Possible secrets are masked. */
export const SettingFactsSchema = z.object({
  key: z.string(),
  value: z.unknown(),
  /** The layer that sets the value in effect. */
  layer: z.enum(["default", "user", "project", "environment", "flags"]),
  where: z.string().describe('A path, a variable or a flag; "" for a default'),
  doc: z.string(),
  type: z.string(),
  project: z.boolean().describe("Whether the file of a workspace may set it"),
  /** All layers that set it, in increasing precedence. */
  layers: z.array(z.object({ layer: z.string(), where: z.string(), value: z.unknown() })),
});

export type SettingFacts = Frozen<z.infer<typeof SettingFactsSchema>>;

/** The result of changing a settings file. */
export const SettingChangeSchema = z.object({
  key: z.string(),
  path: z.string(),
  /** Null if it was removed. */
  value: z.unknown(),
  changed: z.boolean(),
  overruled: z.string().describe('What overrides the setting; "" if nothing does'),
});

export type SettingChange = Frozen<z.infer<typeof SettingChangeSchema>>;

/** A project's settings file, and which of its settings need trust. */
export const ConfigTrustSchema = z.object({
  path: z.string(),
  sha256: z.string(),
  trusted: z.boolean(),
  keys: z.array(z.object({ key: z.string(), value: z.unknown() })),
});

export type ConfigTrustFacts = Frozen<z.infer<typeof ConfigTrustSchema>>;
