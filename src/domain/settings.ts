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
  /** Its keys that hold for every program of a conversation, by what they say of it. */
  readonly programs: Readonly<Partial<Record<"network" | "read" | "unwalled", string>>>;
  /** Its keys that take what clients offer, by the kind of that. */
  readonly offered: Readonly<Record<string, string>>;
  readonly schema: () => Promise<z.ZodType>;
}

/** The name under which `vis login` saves the bot's token. It is not a model provider. */
export const BOT_LOGIN = "telegram";
