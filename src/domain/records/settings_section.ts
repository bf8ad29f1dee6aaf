import type { z } from "zod";

/** What a setting can mean to Vis, marked on its type with `.meta({ … })`. */
export const SETTING_MARKS = ["project", "programs", "secrets", "offered"] as const;

/** The settings of one shipped extension, as far as the configuration needs to know them. */
export interface SettingsSection {
  readonly namespace: string;
  /** Its top-level name in the configuration; null if it is only in `extensions.config`. */
  readonly name: string | null;
  /** Its keys that the workspace's settings file may set. */
  readonly project: readonly string[];
  /** Its keys that no workspace's settings file may set, even a trusted one. */
  readonly own: readonly string[];
  readonly schema: () => Promise<z.ZodType>;
}
