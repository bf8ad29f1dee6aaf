import assert from "node:assert/strict";
import { join } from "node:path";
import { BotApi } from "../../../src/channels/telegram/bot_api.ts";
import { UsageError } from "../../../src/domain/errors.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { FakeBotApi, TOKEN } from "./_fake_bot_api.ts";

const { signal } = new AbortController();
const within = (maxBytes: number) => ({
  name: "a.txt",
  signal,
  maxBytes,
  tooLarge: () => new UsageError("it is larger"),
});
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

Deno.test("BotApi: a file of a server in local mode is read from its disk on this machine, within the limit", async () => {
  await withFolder(async (folder) => {
    await using server = new FakeBotApi();
    const path = join(folder, TOKEN, "documents", "file 1.txt");
    await Deno.mkdir(join(folder, TOKEN, "documents"), { recursive: true });
    await Deno.writeTextFile(path, "from the disk");
    const api = new BotApi({ token: TOKEN, root: server.url });
    assert.equal(text(await api.download(path, within(13))), "from the disk");
    await assert.rejects(api.download(path, within(12)), /^UsageError: it is larger$/);
    await Deno.mkdir(join(folder, TOKEN, "documents", "folder"));
    await assert.rejects(api.download(join(folder, TOKEN, "documents", "folder"), within(9)), /404/);
  });
});

Deno.test("BotApi: a file of a server in local mode on another disk is read by the address of its other files", async () => {
  await using server = new FakeBotApi();
  server.files.set("documents/file_1.txt", new TextEncoder().encode("by its address"));
  const api = new BotApi({ token: TOKEN, root: server.url });
  const path = `/var/lib/telegram-bot-api/${TOKEN}/documents/file_1.txt`;
  assert.equal(text(await api.download(path, within(100))), "by its address");
  const missing = api.download(`/var/lib/${TOKEN}/music/a.mp3`, within(100));
  await assert.rejects(missing, (error: Error) => {
    assert.match(
      error.message,
      /Telegram responded with status 404; the Bot API server is in local.* this machine, or serve them below \/file\/bot<token>\//,
    );
    assert.ok(!error.message.includes(TOKEN));
    return true;
  });
});

Deno.test("BotApi: a path outside the bot's own folder is refused and not read", async () => {
  await withFolder(async (folder) => {
    await using server = new FakeBotApi();
    await Deno.writeTextFile(join(folder, "secret"), "secret");
    await Deno.mkdir(join(folder, TOKEN));
    const api = new BotApi({ token: TOKEN, root: server.url });
    for (
      const path of [join(folder, "secret"), `${folder}/${TOKEN}/../secret`, `${folder}/${TOKEN}`, "", "a/../../b"]
    ) {
      await assert.rejects(
        api.download(path, within(100)),
        /^TelegramError: Cannot download a\.txt: Telegram returned an invalid path for it; send the file again$/,
        path,
      );
    }
  });
});
