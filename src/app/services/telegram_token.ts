import type { TelegramRequest } from "../../channels/channel.ts";
import { ConfigError } from "../../domain/errors.ts";
import { BOT_LOGIN } from "../../domain/settings.ts";
import { credentialsOf } from "../providers/build_router.ts";
import type { Settings } from "../settings/settings.ts";

const VARIABLE = "VIS_TELEGRAM_TOKEN";

export interface TelegramToken {
  readonly token: string;
  /** A path or a variable. */
  readonly from: string;
}

/** The bot's token: from the named file, from VIS_TELEGRAM_TOKEN, or saved by `vis auth login telegram`; null if there
 * is none. Throws `ConfigError` for an invalid token, without showing it. */
export async function telegramToken(
  { tokenFile }: Pick<TelegramRequest, "tokenFile">,
  settings: Pick<Settings, "home" | "variable">,
): Promise<TelegramToken | null> {
  if (tokenFile !== undefined) return checked(await ofFile(tokenFile), tokenFile);
  const told = settings.variable(VARIABLE);
  if (told !== null) return checked(told, VARIABLE);
  const kept = await credentialsOf(settings).get(BOT_LOGIN);
  return kept?.type === "key" ? checked(kept.key, "auth.json") : null;
}

function checked(token: string, from: string): TelegramToken {
  if (/^\d{1,20}:[\w-]{20,200}$/.test(token)) return { token, from };
  throw new ConfigError(
    `Cannot use the token of ${from}: it must look like 123456:ABC…, as @BotFather sends it`,
  );
}

async function ofFile(path: string): Promise<string> {
  try {
    return (await Deno.readTextFile(path)).trim();
  } catch (error) {
    throw new ConfigError(`Cannot read the token in ${path}: ${error instanceof Error ? error.name : "unknown"}`);
  }
}
