import assert from "node:assert/strict";
import type { ConfigAdmin, RunningBot } from "../../../../src/channels/channel.ts";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import { telegramCommand } from "../../../../src/channels/cli/commands/serve.ts";
import { Cancelled, ConfigError, StoreError } from "../../../../src/domain/errors.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

function fakeBot(closed: string[], ended: Promise<void> = new Promise(() => {})): RunningBot {
  const close = () => Promise.resolve(void closed.push("closed"));
  return { username: "B", provider: "p", model: "m\x1b[31m", notes: ["a note"], ended, close };
}

Deno.test("telegramCommand() shows the address first, and closes at an interrupt", async () => {
  const closed: string[] = [], io = fakeIo();
  const services = fakeServices({ telegram: () => Promise.resolve(fakeBot(closed)) });
  const code = telegramCommand({ services, io, flags: {} });
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual([io.out, closed], ["https://t.me/B\n", []]);
  assert.match(io.err, /^vis · @B · p m/);
  assert.ok(!io.err.includes("\x1b") && io.err.includes("vis · a note\n"));
  io.interrupt();
  assert.deepEqual([await code, closed], [0, ["closed"]]);
});

Deno.test("telegramCommand() closes a bot that cannot continue, and passes on the reason", async () => {
  const closed: string[] = [], io = fakeIo();
  const bot = fakeBot(closed, Promise.reject(new ConfigError("Cannot ask Telegram for updates: 409")));
  const services = fakeServices({ telegram: () => Promise.resolve(bot) });
  await assert.rejects(telegramCommand({ services, io, flags: {} }), /Cannot ask Telegram for updates/);
  assert.deepEqual(closed, ["closed"]);
});

Deno.test("telegramCommand() ends with 1 after a fault of the database, so that a supervisor starts it again", async () => {
  const io = fakeIo(), closed: string[] = [];
  const bot = fakeBot(closed, Promise.reject(new StoreError("Cannot use database x: it is gone", "moved")));
  const services = fakeServices({ telegram: () => Promise.resolve(bot) });
  assert.equal(await telegramCommand({ services, io, flags: {} }), 1);
  assert.match(io.err, /^vis: Cannot use database x: it is gone$/m);
  assert.deepEqual(closed, ["closed"]);
});

Deno.test("telegramCommand() does not treat an interrupt before Telegram was reached as a fault", async () => {
  const io = fakeIo();
  const services = fakeServices({
    telegram: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Cancelled("Cancelled")))),
  });
  const code = telegramCommand({ services, io, flags: {} });
  io.interrupt();
  assert.equal(await code, 0);
});

Deno.test("vis telegram allow and disallow change the list, also ids of groups, and refuse an invalid id", async () => {
  let list: unknown = [5];
  const written: unknown[] = [];
  const admin = {
    explain: () => Promise.resolve({ value: list }),
    set: (_key: string, { words }: { readonly words: readonly string[] }) => {
      list = JSON.parse(words[0] ?? "");
      written.push(list);
      return Promise.resolve({});
    },
    path: () => "/home/x/config.jsonc",
  } as unknown as ConfigAdmin;
  const services = fakeServices({ configAdmin: () => Promise.resolve(admin) });
  const run = async (...args: string[]) => {
    const io = fakeIo({ args: ["telegram", ...args] });
    return [await runCli(services, io), io.err] as const;
  };
  assert.deepEqual((await run("allow", "7", "-100123"))[0], 0);
  assert.match((await run("allow", "7"))[1], /the bot answers 5, 7, -100123 \(telegram\.allow in/);
  await run("disallow", "5", "99");
  assert.match((await run("disallow", "7", "-100123"))[1], /the bot answers nobody/);
  assert.deepEqual(written, [[5, 7, -100123], [7, -100123], []]);
  for (const wrong of ["x", "0", "1.5", "@name", "99999999999999999999"]) {
    assert.equal((await run("allow", wrong))[0], 2, wrong);
  }
});
