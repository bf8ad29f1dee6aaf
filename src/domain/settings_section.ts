import type { z } from "zod";

export const SETTING_MARKS = ["project", "programs", "secrets", "offered"] as const;

export interface SettingsSection {
  readonly namespace: string;
  /** The settings of the extension have this top-level name; null if they are only in `extensions.config`. */
  readonly name: string | null;
  readonly project: readonly string[];
  readonly own: readonly string[];
  readonly programs: Readonly<Partial<Record<"network" | "unwalled", string>>>;
  readonly offered: Readonly<Record<string, string>>;
  readonly schema: () => Promise<z.ZodType>;
}

/** `vis auth login` saves the token of the bot under this name, although the bot is not a model provider. */
export const BOT_LOGIN = "telegram";
