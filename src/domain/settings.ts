import type { z } from "zod";

/** A setting can have these marks for Vis on its type, set with `.meta({ … })`. */
export const SETTING_MARKS = ["project", "programs", "secrets", "offered"] as const;

/** The settings of one shipped extension, as far as the configuration needs to know them. */
export interface SettingsSection {
  readonly namespace: string;
  /** The extension's settings have this top-level name; null if they are only in `extensions.config`. */
  readonly name: string | null;
  /** The workspace's settings file may set these keys. */
  readonly project: readonly string[];
  /** No workspace's settings file may set these keys, even a trusted one. */
  readonly own: readonly string[];
  /** These keys hold for every program of a conversation, grouped by their meaning for programs. */
  readonly programs: Readonly<Partial<Record<"network" | "read" | "unwalled", string>>>;
  /** These keys take the values that clients offer; each value here names the kind of offer. */
  readonly offered: Readonly<Record<string, string>>;
  readonly schema: () => Promise<z.ZodType>;
}

/** The name under which `vis login` saves the bot's token. It is not a model provider. */
export const BOT_LOGIN = "telegram";
