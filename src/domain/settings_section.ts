import type { z } from "zod";
import type { LoginChoice } from "./admin_reports.ts";

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

/** The token in this variable overrides the saved token. */
export const BOT_VARIABLE = "VIS_TELEGRAM_TOKEN";

export const OTHER_SERVER: LoginChoice = {
  ...{ name: "other", title: "another OpenAI-compatible server", need: "optional" },
};

export function serverAddress(text: string): string | null {
  const address = text.trim().replace(/\/+$/, "");
  return URL.canParse(address) && /^https?:/.test(address) ? address : null;
}
