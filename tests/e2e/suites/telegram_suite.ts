import assert from "node:assert/strict";
import { FakeBotApi, type FakeCall, refused, TOKEN } from "../../channels/telegram/_fake_bot_api.ts";
import type { MockReply } from "../../helpers/wires/openai_mock.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { launched } from "../helpers/together.ts";
import { type Running, User } from "../helpers/user.ts";

const ENV = { VIS_TELEGRAM_TOKEN: TOKEN };

/** The moment of the kill: at a call, before Telegram has carried it out or after, or in the model's reply. */
type Site =
  | { readonly call: (call: FakeCall, said: number) => boolean; readonly when: "before" | "after" }
  | { readonly model: true };

const of = (method: string, fits: (call: FakeCall) => boolean = () => true) => (call: FakeCall): boolean =>
  call.method === method && fits(call);
const isAnswer = ({ payload }: FakeCall): boolean => String(payload["text"]).startsWith("You said ");

const SITES: Readonly<Record<string, Site>> = {
  "updates on their way": { call: of("getUpdates"), when: "after" },
  "before the first message": { call: of("sendMessage"), when: "before" },
  "in the model's reply": { model: true },
  "before the answer": { call: of("editMessageText", isAnswer), when: "before" },
  "after the answer": { call: of("editMessageText", isAnswer), when: "after" },
  "before updates are confirmed": {
    call: ({ method, payload }, said) => method === "getUpdates" && Number(payload["offset"]) > said,
    when: "before",
  },
};

class Chat implements AsyncDisposable {
  readonly api = new FakeBotApi();
  readonly asked = new Map<string, number>();
  onModel: (() => void | Promise<void>) | null = null;
  bot: Running | null = null;

  constructor(readonly user: User) {}

  static async open(launcher: Launcher, settings: Readonly<Record<string, number>> = {}): Promise<Chat> {
    let chat: Chat | null = null;
    const handler = async (asked: { readonly body: unknown }): Promise<MockReply> => {
      const word = JSON.stringify(asked.body).match(/word\d+/g)?.sort().at(-1) ?? "";
      chat?.asked.set(word, (chat.asked.get(word) ?? 0) + 1);
      await chat?.onModel?.();
      return { text: replyJson([], { final: `You said ${word}` }) };
    };
    chat = new Chat(await User.make(launcher, { handler }));
    await Deno.mkdir(chat.user.path("vis"));
    await Deno.writeTextFile(
      chat.user.path("vis/config.jsonc"),
      JSON.stringify({ telegram: { allow: [7], apiUrl: chat.api.url, ...settings } }),
    );
    return chat;
  }

  start(...flags: readonly string[]): Running {
    return this.bot = this.user.start(["telegram", ...flags], { env: ENV });
  }

  answers(word: string): number {
    return this.api.messages.filter(({ texts }) => texts.at(-1)?.startsWith(`You said ${word}\n`)).length;
  }

  async kill(): Promise<void> {
    this.bot?.kill("SIGKILL");
    await this.bot?.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.bot?.kill("SIGKILL");
    } catch { /* The process has ended. */ }
    await this.bot?.ended;
    await this.api.close();
    await this.user[Symbol.asyncDispose]();
  }
}

export function telegramSuite(launcher: Launcher): void {
  launched(launcher, "vis telegram answers, shows its address and no token, and ends at SIGTERM", async () => {
    await using chat = await Chat.open(launcher);
    const bot = chat.start();
    chat.api.say("say word1");
    await bot.until("answer", () => chat.answers("word1") === 1);
    bot.kill("SIGTERM");
    const { code, stdout, stderr } = await bot.ended;
    assert.deepEqual([code, stdout], [0, "https://t.me/VisTestBot\n"]);
    assert.match(stderr, /@VisTestBot · \S+ mock-1\n.*token from VIS_TELEGRAM_TOKEN\n.*1 allowed\n.*shutting down/s);
    assert.ok(!stderr.includes(TOKEN));
    const stored = await Deno.readFile(chat.user.database);
    assert.ok(!new TextDecoder("latin1").decode(stored).includes(TOKEN.split(":")[1] ?? ""), "token in the database");
  });

  launched(launcher, "vis telegram stores what runs at SIGHUP as at SIGTERM, and begins it again", async (t) => {
    for (const signal of ["SIGTERM", "SIGHUP"] as const) {
      await t.step(signal, async () => {
        // The query cannot finish, however much time it gets.
        await using chat = await Chat.open(launcher, { shutdownMs: 100 });
        const asked = Promise.withResolvers<void>();
        const hold = Promise.withResolvers<void>();
        chat.onModel = () => {
          chat.onModel = null;
          asked.resolve();
          return hold.promise;
        };
        const bot = chat.start();
        chat.api.say("say word1");
        await asked.promise;
        bot.kill(signal);
        const { code, stderr } = await bot.ended;
        assert.equal(code, 0, stderr);
        hold.resolve();
        await chat.start().until("answer", () => chat.answers("word1") === 1);
      });
    }
  });

  launched(launcher, "vis telegram says that an answer is not stored when its database is gone, and ends", async () => {
    await using chat = await Chat.open(launcher);
    const { database } = chat.user;
    chat.onModel = () => Deno.renameSync(database, `${database}.away`);
    const bot = chat.start();
    chat.api.say("say word1");
    const { code, stderr } = await bot.ended;
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^vis: Cannot use database .*: the file was removed or renamed/m);
    chat.onModel = null;
    Deno.renameSync(`${database}.away`, database);
    const isTold = (text: string): boolean => /^⚠️ You said word1\n\nCannot use database .* was removed/.test(text);
    await chat.start().until("answer", () => chat.api.messages.some(({ texts }) => isTold(texts.at(-1) ?? "")));
    assert.equal(chat.asked.get("word1"), 1, "what was paid for is not asked again");
  });

  launched(launcher, "vis telegram: a kill at any step loses no message and answers none twice", async () => {
    await using chat = await Chat.open(launcher);
    let n = 10;
    // The bot that continues after a kill is killed next.
    let bot: Running | null = null;
    for (const [name, site] of Object.entries(SITES)) {
      const word = `word${n++}`;
      let killed = false;
      const kill = (): void => {
        if (killed) return;
        killed = true;
        chat.bot?.kill("SIGKILL");
      };
      let said = Infinity;
      if ("model" in site) chat.onModel = kill;
      else chat.api.rules.unshift((call) => !killed && site.call(call, said) ? { when: site.when, act: kill } : null);
      bot ??= chat.start();
      await bot.until("poll", () => chat.api.callsOf("getUpdates").length > 0);
      said = chat.api.say(`say ${word}`);
      assert.equal((await bot.ended).signal, "SIGKILL", name);
      chat.onModel = null;
      const next = bot = chat.start();
      await next.until(
        `answer after a kill ${name}`,
        () => next.stdout !== "" && chat.answers(word) === 1 && chat.api.unconfirmed === 0,
      );
      assert.equal(chat.asked.get(word), "model" in site ? 2 : 1, `asked the model after a kill ${name}`);
    }
    bot?.kill("SIGTERM");
    assert.equal((await bot?.ended)?.code, 0);
    for (let word = 10; word < n; word++) assert.equal(chat.answers(`word${word}`), 1, `word${word}`);
    // The other messages in the chat were never answers.
    const others = chat.api.shown().filter((text) => !text.startsWith("You said"));
    assert.ok(others.every((text) => text.startsWith("⏳")), JSON.stringify(others));
  });

  launched(launcher, "vis telegram ends with 3 and a sentence where it cannot go on", async () => {
    await using chat = await Chat.open(launcher);
    const none = await chat.user.run(["telegram"]);
    assert.deepEqual([none.code, none.stdout], [3, ""]);
    assert.match(none.stderr, /^vis: Cannot start the bot: no token is saved.*vis auth login telegram/);
    const wrong = await chat.user.run(["telegram"], { env: { VIS_TELEGRAM_TOKEN: TOKEN.replace("AA", "BB") } });
    assert.equal(wrong.code, 3);
    assert.match(wrong.stderr, /^vis: Cannot use the bot: Telegram refused its token/);
    assert.ok(!wrong.stderr.includes("BBFake"));
    chat.api.fail("getUpdates", refused(409, "Conflict: terminated by other getUpdates request"));
    const other = await chat.start().ended;
    assert.equal(other.code, 3);
    assert.match(
      other.stderr,
      /vis: Cannot ask Telegram for updates: another program reads the updates of this bot; stop that program/,
    );
    chat.api.webhook = "https://elsewhere";
    const hooked = await chat.start().ended;
    assert.equal(hooked.code, 3);
    assert.match(hooked.stderr, /webhook.*vis telegram --delete-webhook/);
  });
}
