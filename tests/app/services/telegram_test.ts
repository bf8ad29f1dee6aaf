import assert from "node:assert/strict";
import { join } from "node:path";
import { diagnoseTelegram } from "../../../src/app/doctor/doctor.ts";
import { readSettings } from "../../../src/app/settings/settings.ts";
import { telegram, telegramToken } from "../../../src/app/services/telegram.ts";
import { FakeBotApi, TOKEN } from "../../channels/telegram/_fake_bot_api.ts";
import { NO_EXTENSIONS } from "../_settings.ts";
import { until } from "../../helpers/until.ts";

interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  configure(config: object): Promise<void>;
}

async function withPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-telegram-" }));
  const env = { VIS_HOME: folder, HOME: folder, VIS_PROVIDER: "demo" };
  try {
    await work({
      folder,
      env,
      configure: (config) => Deno.writeTextFile(join(folder, "config.jsonc"), JSON.stringify(config)),
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("telegramToken() prefers the file, then the variable, then the saved token, and shows no invalid one", () =>
  withPlace(async ({ folder, env }) => {
    const settings = async (more: Readonly<Record<string, string>> = {}) =>
      await readSettings({ cwd: folder }, { ...env, ...more }, NO_EXTENSIONS);
    assert.equal(await telegramToken({}, await settings()), null);
    const kept = { version: 1, providers: { telegram: { type: "key", key: TOKEN } } };
    await Deno.writeTextFile(join(folder, "auth.json"), JSON.stringify(kept), { mode: 0o600 });
    assert.deepEqual(await telegramToken({}, await settings()), { token: TOKEN, from: "auth.json" });
    const other = TOKEN.replace("AA", "CC"), third = TOKEN.replace("AA", "DD");
    const told = await settings({ VIS_TELEGRAM_TOKEN: other });
    assert.deepEqual(await telegramToken({}, told), { token: other, from: "VIS_TELEGRAM_TOKEN" });
    const file = join(folder, "token");
    await Deno.writeTextFile(file, `${third}\n`);
    assert.deepEqual(await telegramToken({ tokenFile: file }, told), { token: third, from: file });
    await assert.rejects(
      telegramToken({ tokenFile: join(folder, "none") }, told),
      /Cannot read the token in .*: there is no such file or folder; choose another file with --token-file/,
    );
    const wrong = await settings({ VIS_TELEGRAM_TOKEN: "123:half-a-secret" });
    await assert.rejects(telegramToken({}, wrong), (error: Error) => !error.message.includes("half-a-secret"));
  }));

Deno.test("diagnoseTelegram() reports whether the bot could be used, without a request", () =>
  withPlace(async ({ folder, env, configure }) => {
    const check = async (token = "") => {
      const [found] = await diagnoseTelegram(
        await readSettings({ cwd: folder }, { ...env, VIS_TELEGRAM_TOKEN: token }, NO_EXTENSIONS),
      );
      return [found?.state, found?.fix.replace(/[;,].*/, "")];
    };
    assert.deepEqual(await check(), ["off", ""]);
    assert.deepEqual(await check(TOKEN), ["warn", "Run vis telegram allow ID"]);
    assert.deepEqual(await check("nonsense"), ["fail", "Run vis auth login telegram"]);
    await configure({ telegram: { allow: [1], apiUrl: "http://127.0.0.1:9" } });
    assert.deepEqual(await check(TOKEN), ["ok", ""]);
    assert.deepEqual(await check(), ["warn", "Save the token from @BotFather with vis auth login telegram"]);
  }));

Deno.test("telegram() in the locked profile answers behind every wall, and lets no chat choose a model", () =>
  withPlace(async ({ folder, env, configure }) => {
    await using api = new FakeBotApi();
    await configure({ telegram: { allow: [7], apiUrl: api.url } });
    const bot = await telegram({
      cwd: folder,
      db: ":memory:",
      profile: "locked",
      onNote: () => {},
      signal: new AbortController().signal,
    }, { env: { ...env, VIS_TELEGRAM_TOKEN: TOKEN }, shipped: {} });
    try {
      assert.ok(bot.notes.some((note) => note.startsWith("locked: all walls active")), bot.notes.join("\n"));
      assert.ok(bot.notes.includes("1 allowed"));
      api.say("/model policies");
      api.say("Define a function that formats cents as euros, and show 123456 cents with it.");
      await until(() => api.shown().some((text) => text.includes("€1,234.56")), () => JSON.stringify(api.shown()));
      assert.ok(
        api.shown().includes(
          "⚠️ Cannot change the model: this bot uses the locked profile, which allows only the configured model; ask the operator of the bot",
        ),
      );
    } finally {
      await bot.close();
    }
  }));

Deno.test("telegram() refuses to start without a token, with a wrong profile, and if the API server is unknown", () =>
  withPlace(async ({ folder, env }) => {
    const rest = { cwd: folder, db: ":memory:", onNote: () => {}, signal: new AbortController().signal };
    const parts = { env, shipped: {} };
    await assert.rejects(telegram(rest, parts), /no token is saved; create one with @BotFather/);
    await assert.rejects(telegram({ ...rest, profile: "half" }, parts), /choose open or locked/);
    const late = new AbortController();
    const notes: string[] = [];
    const started = telegram({
      ...rest,
      signal: late.signal,
      onNote: (text) => {
        notes.push(text);
        late.abort();
      },
    }, { ...parts, env: { ...env, VIS_TELEGRAM_TOKEN: TOKEN, VIS_HOME: await unreachable(folder) } });
    await assert.rejects(started, { name: "Cancelled" });
    assert.match(notes[0] ?? "", /^Cannot reach Telegram at .*: .*\. Vis tries again$/);
  }));

async function unreachable(folder: string): Promise<string> {
  const home = join(folder, "unreachable");
  await Deno.mkdir(home);
  await Deno.writeTextFile(join(home, "config.jsonc"), JSON.stringify({ telegram: { apiUrl: "http://127.0.0.1:9" } }));
  return home;
}
