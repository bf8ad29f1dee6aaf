import type { OpenRequest } from "../../channels/channel.ts";
import { REAL_BOT_CLOCK } from "../../channels/telegram/bot_api.ts";
import type { OpenTelegramOptions } from "../../channels/telegram/open_telegram.ts";
import { createLog } from "../../logging/log.ts";
import { AppProviderAdmin } from "../providers/provider_admin.ts";
import type { SessionParts } from "../session/open_session.ts";
import { readSettings, type Settings } from "../settings/settings.ts";

/** The list of allowed users is read again if it is older. */
const ALLOWED_MS = 1_000;

interface BotParts {
  readonly settings: Settings;
  readonly parts: Pick<SessionParts, "env" | "described" | "settings">;
}

/** The bot's part of the settings, for polling or a webhook. */
export function botSettings(
  request: OpenRequest,
  { settings, parts }: BotParts,
): Pick<OpenTelegramOptions, "apiUrl" | "clock" | "log" | "shutdownMs" | "quota" | "models" | "allowed"> {
  const { telegram, server } = settings.config;
  return {
    apiUrl: telegram.apiUrl,
    clock: REAL_BOT_CLOCK,
    log: createLog("telegram"),
    shutdownMs: telegram.shutdownMs,
    quota: server.quota,
    models: request.locked ? null : () => modelNames(settings),
    allowed: allowedOf(request, { settings, parts }),
  };
}

/** The current list from the settings: changes apply without a restart. If it cannot be read, the previous list stays
 * in effect. */
function allowedOf(
  request: OpenRequest,
  { settings, parts }: BotParts,
): () => Promise<readonly number[]> {
  let known: readonly number[] = settings.config.telegram.allow;
  let readAt = Date.now();
  return async () => {
    if (Date.now() - readAt < ALLOWED_MS) return known;
    readAt = Date.now();
    try {
      known = (await readSettings(request, parts.env, parts)).config.telegram.allow;
    } catch (error) {
      createLog("telegram").warn("telegram_settings_not_read", { error: String(error) });
    }
    return known;
  };
}

/** Names as accepted by `--model`, those of the default provider first. */
async function modelNames(settings: Settings): Promise<readonly string[]> {
  const reports = await new AppProviderAdmin(settings).models({ provider: null, signal: AbortSignal.timeout(10_000) });
  return reports.flatMap(({ provider, models }, at) =>
    models.map(({ name }) => at === 0 ? name : `${provider}/${name}`)
  );
}
