import assert from "node:assert/strict";
import { UserAccess } from "../../../src/channels/telegram/access.ts";
import { backoff, BotApi, type BotClock, TelegramError } from "../../../src/channels/telegram/bot_api.ts";
import { Outbox } from "../../../src/channels/telegram/messenger.ts";
import { Cancelled, messageOf, UsageError } from "../../../src/domain/errors.ts";
import { FakeBotApi, refused, TOKEN } from "./_fake_bot_api.ts";

function steppedClock(): BotClock & { time: number; readonly sleeps: number[] } {
  const clock = {
    time: 0,
    sleeps: [] as number[],
    now: (): number => clock.time,
    random: () => 1,
    sleep: (ms: number, signal: AbortSignal): Promise<void> => {
      if (signal.aborted) return Promise.reject(new Cancelled("Cancelled"));
      clock.time += ms;
      clock.sleeps.push(ms);
      return Promise.resolve();
    },
  };
  return clock;
}

const flood = (ms: number) => new TelegramError("flood", { code: "flood", retryAfterMs: ms });
const lost = () => new TelegramError("lost", { code: "network" });

Deno.test("Outbox.must() waits as long as a flood wants, backs off for lost connections, and passes on refusals", async () => {
  const clock = steppedClock();
  const outbox = new Outbox({ clock, signal: new AbortController().signal });
  const faults = [flood(7_000), lost(), lost(), lost()];
  const got = await outbox.must(1, () => {
    const fault = faults.shift();
    return fault ? Promise.reject(fault) : Promise.resolve("done");
  });
  assert.equal(got, "done");
  assert.deepEqual(clock.sleeps, [7_000, 2_000, 4_000, 8_000]);
  await assert.rejects(
    outbox.must(1, () => Promise.reject(new TelegramError("no", { code: "refused" }))),
    /no/,
  );
});

Deno.test("Outbox.must() keeps the order of a chat, and one chat does not hold up another", async () => {
  const outbox = new Outbox({ clock: steppedClock(), signal: new AbortController().signal });
  const gate = Promise.withResolvers<void>();
  const order: string[] = [];
  const first = outbox.must(1, async () => {
    await gate.promise;
    order.push("first");
  });
  const second = outbox.must(1, () => Promise.resolve(order.push("second")));
  await outbox.must(2, () => Promise.resolve(order.push("other")));
  gate.resolve();
  await Promise.all([first, second]);
  assert.deepEqual(order, ["other", "first", "second"]);
});

Deno.test("Outbox.try() sends at most once a second, in a group every three, and nothing while messages wait", async () => {
  const clock = steppedClock();
  const outbox = new Outbox({ clock, signal: new AbortController().signal });
  const sent: number[] = [];
  const tick = async (chat: number): Promise<void> => {
    for (let n = 0; n < 40; n++) {
      clock.time += 250;
      await outbox.try(chat, () => Promise.resolve(sent.push(clock.time)));
    }
  };
  await tick(5);
  assert.equal(sent.length, 10);
  assert.ok(sent.every((at, n) => n === 0 || at - (sent[n - 1] ?? 0) >= 1_000));
  sent.length = 0;
  await tick(-5);
  assert.ok(sent.length <= 4, `${sent.length}`);
  await outbox.try(5, () => Promise.reject(flood(60_000)));
  sent.length = 0;
  await tick(5);
  assert.deepEqual(sent, []);
});

Deno.test("Outbox.must() ends with the program", async () => {
  const abort = new AbortController();
  const clock = steppedClock();
  const outbox = new Outbox({ clock, signal: abort.signal });
  const call = () => {
    if (clock.sleeps.length > 3) abort.abort();
    return Promise.reject(lost());
  };
  await assert.rejects(outbox.must(1, call), Cancelled);
});

Deno.test("backoff() doubles up to a minute, half of it by chance", () => {
  assert.deepEqual([1, 2, 3, 9, 99].map((n) => backoff(n, () => 1)), [1_000, 2_000, 4_000, 60_000, 60_000]);
  assert.equal(backoff(3, () => 0), 2_000);
});

Deno.test("Access.mayTell() repeats a text after ten minutes, and allows ten texts a minute", () => {
  const clock = steppedClock();
  const access = new UserAccess({ clock, allowed: () => Promise.resolve([]) });
  const told = Array.from({ length: 50 }, (_, n) => access.mayTell(`user ${n}`)).filter((yes) => yes);
  assert.equal(told.length, 10);
  clock.time += 61_000;
  assert.deepEqual([access.mayTell("user 0"), access.mayTell("user 20")], [false, true]);
  clock.time += 600_000;
  assert.equal(access.mayTell("user 0"), true);
});

Deno.test("Access.allows() accepts a listed user anywhere, any user in a listed group, and no others", async () => {
  const access = new UserAccess({ clock: steppedClock(), allowed: () => Promise.resolve([7, -500, 900]) });
  const group = (id: number) => ({ id, thread: null, group: true });
  const own = (id: number) => ({ id, thread: null, group: false });
  assert.equal(await access.allows(7, group(-1)), true);
  assert.equal(await access.allows(8, group(-500)), true);
  assert.deepEqual(await Promise.all([access.allows(8, group(-1)), access.allows(8, own(8))]), [false, false]);
});

Deno.test("BotApi: no error of any kind holds the token, however the connection fails", async () => {
  const signal = new AbortController().signal;
  const within = (maxBytes: number) => ({
    name: "a.txt",
    signal,
    maxBytes,
    tooLarge: () => new UsageError("it is larger"),
  });
  const errors: unknown[] = [];
  const collect = async (work: Promise<unknown>): Promise<void> => {
    await work.then(() => assert.fail("It was to fail"), (error: unknown) => errors.push(error));
  };
  await using api = new FakeBotApi();
  const bot = new BotApi({ token: TOKEN, root: api.url });
  api.fail(
    "getMe",
    { status: 200, body: "<html>" },
    { status: 502, body: "" },
    { status: 500, body: "{}" },
    refused(400, `Bad Request: bot${TOKEN} is wrong`),
    refused(401, "Unauthorized"),
    refused(429, "Too Many Requests", { retry_after: 9 }),
  );
  for (let n = 0; n < 6; n++) await collect(bot.call((wire, own) => wire.getMe(own), { signal }));
  const gone = new BotApi({ token: TOKEN, root: "http://127.0.0.1:9" });
  await collect(gone.call((wire, own) => wire.getMe(own), { signal }));
  await collect(gone.download("documents/a", within(9)));
  await collect(bot.download("nothing", within(9)));
  await collect(bot.download("../../etc/passwd", within(9)));
  api.files.set("long", new Uint8Array(100));
  await collect(bot.download("long", within(9)));
  const unknown = new BotApi({ token: TOKEN, root: "http://nowhere.invalid" });
  await collect(unknown.call((wire, own) => wire.getMe(own), { signal, timeoutMs: 2_000 }));
  api.rules.push(() => ({ act: () => new Promise((resolve) => setTimeout(resolve, 60)), when: "before" }));
  await collect(bot.call((wire, own) => wire.getMe(own), { signal, timeoutMs: 20 }));
  const shown = errors.map((error) => Deno.inspect(error, { depth: 9 }) + (error instanceof Error ? error.stack : ""));
  for (const text of shown) assert.ok(!text.includes(TOKEN) && !text.includes("AAFake"), text);
  const kinds = errors.map((error) => error instanceof TelegramError ? error.code : messageOf(error));
  assert.deepEqual(kinds, [
    ...[
      "network",
      "network",
      "network",
      "refused",
      "token",
      "flood",
      "network",
      "network",
      "refused",
      "refused",
      "it is larger",
    ],
    ...["network", "network"],
  ]);
});
