import type { CheckResult } from "../../channels/channel.ts";
import { ConfigError } from "../../domain/errors.ts";
import type { Settings } from "../settings/settings.ts";
import { telegramToken } from "../services/telegram_token.ts";

/** Checks whether the Telegram bot could be started and used; nothing is sent. */
export async function diagnoseTelegram(settings: Settings): Promise<readonly CheckResult[]> {
  const name = "telegram";
  const { allow } = settings.config.telegram;
  try {
    const token = await telegramToken({}, settings);
    if (token === null) {
      if (allow.length === 0) return [{ name, state: "off", found: "not set up (vis auth login telegram)", fix: "" }];
      const fix = "Save the token from @BotFather with vis auth login telegram";
      return [{ name, state: "warn", found: "no token, although telegram.allow lists users", fix }];
    }
    const found = `token from ${token.from}, ${allow.length === 0 ? "nobody" : allow.length} allowed`;
    if (allow.length > 0) return [{ name, state: "ok", found, fix: "" }];
    return [{ name, state: "warn", found, fix: "vis telegram allow ID; the bot sends refused users their id" }];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ name, state: "fail", found: error.message, fix: "vis auth login telegram, or VIS_TELEGRAM_TOKEN" }];
  }
}
