import assert from "node:assert/strict";
import { join } from "node:path";
import { serve } from "../../../src/app/services/serve.ts";
import type { RunningServer } from "../../../src/channels/channel.ts";
import { webhookSecret } from "../../../src/channels/telegram/updates.ts";
import { FakeBotApi, TOKEN } from "../../channels/telegram/_fake_bot_api.ts";
import { until } from "../../helpers/until.ts";

const VERSION = { vis: "1", deno: "2", v8: "1", compiled: false, target: "t" };
const ADDRESS = "https://vis.example.org/bot/hook";
const HEADER = "x-telegram-bot-api-secret-token";

interface Place {
  readonly api: FakeBotApi;
  start(more?: Readonly<Record<string, string>>): Promise<RunningServer>;
}

async function withPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-hook-" }));
  await using api = new FakeBotApi();
  try {
    const config = { telegram: { allow: [7], apiUrl: api.url, webhookUrl: ADDRESS } };
    await Deno.writeTextFile(join(folder, "config.jsonc"), JSON.stringify(config));
    const env = { VIS_HOME: folder, HOME: folder, VIS_PROVIDER: "demo" };
    await work({
      api,
      start: (more = { VIS_TELEGRAM_TOKEN: TOKEN }) =>
        serve({ port: 0, cwd: folder }, { version: VERSION, env: { ...env, ...more }, shipped: {} }),
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function update(updateId: number, text: string): object {
  const person = { id: 7, first_name: "A" };
  const message = {
    message_id: updateId,
    date: 1,
    from: { ...person, is_bot: false },
    chat: { ...person, type: "private" },
    text,
  };
  return { update_id: updateId, message };
}

async function post(server: RunningServer, body: unknown, secret = webhookSecret(TOKEN)): Promise<number> {
  const response = await fetch(`${server.url}bot/hook`, {
    method: "POST",
    headers: { [HEADER]: secret },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  await response.body?.cancel();
  return response.status;
}

function shows(api: FakeBotApi, text: string): Promise<void> {
  return until(() => api.shown().some((one) => one.startsWith(text)), () => JSON.stringify(api.shown()));
}

Deno.test("vis serve answers the bot's webhook: each update once in any order, even after a restart", () =>
  withPlace(async ({ api, start }) => {
    const first = await start();
    await until(() => api.callsOf("setWebhook").length > 0);
    const set = api.callsOf("setWebhook")[0]?.payload;
    assert.deepEqual([set?.["url"], set?.["secret_token"], set?.["max_connections"]], [
      ADDRESS,
      webhookSecret(TOKEN),
      1,
    ]);
    assert.ok(first.notes.some((note) => note.includes(ADDRESS)));
    assert.equal(await post(first, update(50, "/help")), 200);
    assert.equal(await post(first, update(49, "/usage")), 200);
    assert.equal(await post(first, update(50, "/help")), 200);
    await shows(api, "Write what you need");
    await shows(api, "0 requests");
    await first.close();
    const second = await start();
    assert.equal(await post(second, update(49, "/usage")), 200);
    assert.equal(await post(second, update(51, "/model")), 200);
    await shows(api, "This chat uses");
    assert.equal(api.messages.length, 3);
    assert.equal(api.callsOf("getUpdates").length, 0);
    await second.close();
  }));

Deno.test("vis serve rejects an update without Telegram's secret, and an invalid update", () =>
  withPlace(async ({ api, start }) => {
    const server = await start();
    try {
      const secret = webhookSecret(TOKEN);
      for (const wrong of ["", "x", secret.slice(1), `${secret}0`, secret.toUpperCase(), TOKEN]) {
        assert.equal(await post(server, update(1, "/help"), wrong), 401, wrong);
      }
      for (const body of ["", "{", "[]", "{}", '{"update_id":"1"}', `{"update_id":1,"x":"${"y".repeat(2 << 20)}"}`]) {
        assert.equal(await post(server, body), 400, body.slice(0, 20));
      }
      const got = await fetch(`${server.url}bot/hook`);
      await got.body?.cancel();
      assert.equal(got.status, 405);
      assert.equal(api.messages.length, 0);
    } finally {
      await server.close();
    }
  }));

Deno.test("vis serve does not start with a webhook address and a missing or refused token", () =>
  withPlace(async ({ start }) => {
    await assert.rejects(start({}), /Cannot serve the bot at https?:.*: no token is saved/);
    await assert.rejects(start({ VIS_TELEGRAM_TOKEN: TOKEN.replace("AA", "BB") }), /Telegram refused its token/);
  }));
