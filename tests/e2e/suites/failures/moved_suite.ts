import assert from "node:assert/strict";
import { dirname } from "node:path";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { checkEvents } from "../../helpers/events.ts";
import type { Launcher } from "../../_launcher.ts";
import { launched, together } from "../../helpers/together.ts";
import { User } from "../../helpers/user.ts";
import { client, urlOf } from "../../helpers/server.ts";

const CHANGES: Readonly<Record<string, readonly [change: (database: string) => void, says: string]>> = {
  "the folder is removed": [
    (database) => Deno.removeSync(dirname(database), { recursive: true }),
    "the file was removed or renamed",
  ],
  "the folder is renamed": [
    (database) => Deno.renameSync(dirname(database), `${dirname(database)}-away`),
    "the file was removed or renamed",
  ],
  "the file is removed": [(database) => Deno.removeSync(database), "the file was removed or renamed"],
  "the file is renamed": [
    (database) => Deno.renameSync(database, `${database}.away`),
    "the file was removed or renamed",
  ],
  "another file takes its place": [
    (database) => {
      Deno.copyFileSync(database, `${database}.copy`);
      Deno.renameSync(`${database}.copy`, database);
    },
    "another file took its place",
  ],
  "the log is removed": [(database) => Deno.removeSync(`${database}-wal`), "its log (-wal or -shm) was removed"],
};

async function changing(
  launcher: Launcher,
  { change, reply }: { readonly change: (database: string) => void; readonly reply: string },
): Promise<User> {
  const user: User = await User.make(launcher, {
    handler: ({ index }) => {
      if (index === 0) change(user.database);
      return reply;
    },
  });
  return user;
}

export function movedSuite(launcher: Launcher): void {
  launched(launcher, "vis run gives its answer and says that it is not stored when its database is gone", async (t) => {
    const reply = final("It is 6");
    // The steps below make the other changes.
    const plain = ["the file is removed", "another file takes its place", "the log is removed"];
    const steps = plain.map((name) => [name, async () => {
      const [change, says] = CHANGES[name] ?? assert.fail(name);
      await using user = await changing(launcher, { change, reply });
      const { code, stdout, stderr } = await user.run(["run", "x"]);
      assert.deepEqual([code, stdout], [3, "It is 6\n"], stderr);
      const message = stderr.split("\n").filter((line) => line.startsWith("vis: "));
      assert.deepEqual([message.length, message[0]?.startsWith(`vis: Cannot use database ${user.database}: ${says}`)], [
        1,
        true,
      ], stderr);
      assert.match(stderr, /^1 step /m);
    }]);
    await together(t, {
      ...Object.fromEntries(steps),
      "the folder is renamed, quietly, as JSON": async () => {
        const [change = () => {}] = CHANGES["the folder is renamed"] ?? [];
        await using user = await changing(launcher, { change, reply });
        const { code, stdout, stderr } = await user.run(["run", "--quiet", "--output", "json", "x"]);
        const { status, reason, answer, notes } = JSON.parse(stdout);
        assert.deepEqual([code, status, reason, answer], [3, "error", "unstored", "It is 6"]);
        assert.equal(stderr, `vis: ${notes.at(-1)}\n`);
      },
      "before blocks that would run unseen": async () => {
        const [change = () => {}] = CHANGES["the folder is removed"] ?? [];
        const unseen = replyJson('await fs.writeFile("mark", "x")', { final: "It is done" });
        await using user = await changing(launcher, { change, reply: unseen });
        const { code, stdout, stderr } = await user.run(["run", "x"]);
        assert.deepEqual([code, stdout], [3, ""], stderr);
        assert.match(stderr, /^vis: Cannot use database .*: the file was removed or renamed/m);
        assert.deepEqual(await Array.fromAsync(Deno.readDir(user.workspace)), []);
      },
      "as events, before there is an answer": async () => {
        const [change = () => {}] = CHANGES["the file is renamed"] ?? [];
        await using user = await changing(launcher, { change, reply: replyJson("const n = 6", { final: "{{n}}" }) });
        const { code, stdout, stderr } = await user.run(["run", "--output", "jsonl", "x"]);
        assert.equal(code, 3);
        assert.match(stderr, /^vis: Cannot use database .*: the file was removed or renamed/m);
        const lines = stdout.trimEnd().split("\n");
        const ended = JSON.parse(lines.pop() ?? "");
        assert.equal(ended.type, "error");
        assert.match(ended.error.message, /^Cannot use database .*: the file was removed or renamed/);
        const last = checkEvents(`${lines.join("\n")}\n`).at(-1);
        assert.ok(last?.type === "failed" && last.result.reason === "unstored", stdout);
        assert.match(last.result.notes.at(-1) ?? "", /: the file was removed or renamed/);
        Deno.renameSync(`${user.database}.away`, user.database);
        const shown = await user.run(["conversations", "show", last.result.conversationId.slice(0, 13)]);
        assert.match(shown.stdout, /Vis could not use the database/);
      },
    });
  });

  launched(launcher, "vis serve reports nothing as stored while its database is away, and stores again", async () => {
    let change: (database: string) => void = () => {};
    let reply = final("Here I am");
    await using user: User = await User.make(launcher, {
      handler: () => {
        change(user.database);
        change = () => {};
        return reply;
      },
    });
    const token = "an-operators-own-token";
    const running = user.start(["serve", "--port", "0"], { env: { VIS_TOKEN: token } });
    const ask = client(await urlOf(running), token);
    const { conversationId } = await (await ask("/api/v1/conversations", {})).json();
    const send = () => ask(`/api/v1/conversations/${conversationId}/messages`, { request: "x" });
    assert.equal((await (await send()).json()).status, "done");

    change = (database) => Deno.renameSync(database, `${database}.away`);
    const { status, reason, answer, notes } = await (await send()).json();
    assert.deepEqual([status, reason, answer], ["error", "unstored", "Here I am"]);
    assert.match(notes.at(-1), /: the file was removed or renamed while it was in use/);
    const refused = await send();
    assert.equal(refused.status, 503);
    assert.match((await refused.json()).detail, /^Cannot use database .*: the file was removed or renamed/);
    const completion = { model: "vis", messages: [{ role: "user", content: "y" }] };
    const asked = user.mock.requests.length;
    assert.equal((await ask("/v1/chat/completions", completion)).status, 503);
    assert.equal(user.mock.requests.length, asked, "no reply is paid for");
    const away = await ask("/readyz");
    const { errors } = await away.json();
    assert.equal(away.status, 503);
    assert.deepEqual([errors.length, errors[0].path], [1, "file"]);
    assert.match(errors[0].message, /^the file was removed or renamed while it was in use/);

    Deno.renameSync(`${user.database}.away`, user.database);
    reply = replyJson("const n = 6", { final: "{{n}}" });
    change = (database) => Deno.renameSync(database, `${database}.away`);
    const path = `/api/v1/conversations/${conversationId}/messages`;
    const events = await (await ask(path, { request: "x" }, { accept: "text/event-stream" })).text();
    assert.match(events, /event: failed\ndata: .*"reason":"unstored".*the file was removed or renamed/);
    reply = final("Here I am");
    Deno.renameSync(`${user.database}.away`, user.database);
    assert.equal((await ask("/readyz")).status, 200);
    assert.equal((await (await send()).json()).status, "done");
    change = (database) => Deno.renameSync(database, `${database}.away`);
    const unstored = await ask("/v1/chat/completions", completion);
    assert.equal(unstored.status, 503);
    assert.match((await unstored.json()).error.message, /^Here I am\n\nCannot use database /);
    Deno.renameSync(`${user.database}.away`, user.database);

    const [replace = () => {}] = CHANGES["another file takes its place"] ?? [];
    replace(user.database);
    assert.match((await (await send()).json()).detail, /: another file took its place .* start again/);
    running.kill("SIGTERM");
    assert.equal((await running.ended).code, 0);
    const next = await user.run(["run", "--conversation", conversationId, "y"]);
    assert.deepEqual([next.code, next.stdout], [0, "Here I am\n"], next.stderr);
  });
}
