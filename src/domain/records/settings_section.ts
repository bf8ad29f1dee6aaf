import type { z } from "zod";

/** What a setting may mean to Vis, by `.meta({ … })` of its type. */
export const SETTING_MARKS = ["project", "programs", "secrets", "offered"] as const;

/** The settings of one shipped extension, as far as the configuration must know them. */
export interface SettingsSection {
  readonly namespace: string;
  /** Its name at the top of the configuration, null where its only place is `extensions.config`. */
  readonly name: string | null;
  /** Keys of it that the file of a workspace may set. */
  readonly project: readonly string[];
  readonly schema: () => Promise<z.ZodType>;
}
