import type { RunningBot, Session } from "../../../src/channels/channel.ts";
import { type BotClock, REAL_BOT_CLOCK } from "../../../src/channels/telegram/bot_api.ts";
import { openTelegram, type OpenTelegramOptions } from "../../../src/channels/telegram/bot.ts";
import { type Engine, type EngineOptions, startEngine } from "../../helpers/engine.ts";
import type { ScriptedReply } from "../../helpers/scripted_provider.ts";
import { until } from "../../helpers/until.ts";
import { FakeBotApi, TOKEN } from "./_fake_bot_api.ts";

const SPEED = 50;

export function fastClock(speed = SPEED): BotClock {
  const begun = Date.now();
  return {
    now: () => begun + (Date.now() - begun) * speed,
    sleep: (ms, signal) => REAL_BOT_CLOCK.sleep(ms / speed, signal),
    random: () => 0.5,
  };
}

export interface Rig {
  readonly api: FakeBotApi;
  readonly engine: Engine;
  readonly bot: RunningBot;
  readonly notes: string[];
  /** Waits until a condition is true. Fails with the texts of the chats if it never is. */
  until(holds: () => boolean, what?: string): Promise<void>;
  restart(more?: Partial<OpenTelegramOptions>): Promise<RunningBot>;
}

export function sessionOf(engine: Engine, model = "script"): Session {
  const rest = { workspace: "/nowhere", provider: "p", database: "", close: () => Promise.resolve() };
  return { conversations: engine.conversations, model, ...rest };
}

export async function withBot(
  replies: readonly ScriptedReply[],
  work: (rig: Rig) => Promise<void>,
  { engine: engineOptions = {}, api: given, ...more }: Partial<OpenTelegramOptions> & {
    readonly engine?: EngineOptions;
    readonly api?: FakeBotApi;
  } = {},
): Promise<void> {
  await using api = given ?? new FakeBotApi();
  await using engine = await startEngine(replies, engineOptions);
  const notes: string[] = [];
  const clock = fastClock(); // The clock continues over a restart, as times are stored.
  const open = (extra: Partial<OpenTelegramOptions> = {}) =>
    openTelegram({
      token: TOKEN,
      apiUrl: api.url,
      deleteWebhook: false,
      webhookUrl: null,
      clock,
      log: engineLog(engine),
      note: (text) => notes.push(text),
      shutdownMs: 5_000,
      lateMs: Infinity,
      quota: { queriesPerDay: null, costUsdPerDay: null },
      models: () => Promise.resolve(["script", "other"]),
      allowed: () => Promise.resolve([7, -500]),
      open: (model) => Promise.resolve(sessionOf(engine, model ?? "script")),
      signal: new AbortController().signal,
      ...more,
      ...extra,
    });
  let bot = await open();
  const shown: Rig["until"] = (holds, what = "") => until(holds, () => `${what} ${JSON.stringify(api.shown())}`);
  const restart: Rig["restart"] = async (extra) => {
    await bot.close();
    bot = await open(extra);
    return bot;
  };
  try {
    await work({ api, engine, bot, notes, until: shown, restart });
  } finally {
    await bot.close();
  }
}

function engineLog(engine: Engine): OpenTelegramOptions["log"] {
  const add = (level: string) => (event: string, data: unknown = {}) => void engine.logged.push({ level, event, data });
  return { debug: add("debug"), info: add("info"), warn: add("warn"), error: add("error") };
}
