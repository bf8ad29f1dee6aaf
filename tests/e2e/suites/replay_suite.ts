import assert from "node:assert/strict";
import { join } from "node:path";
import type { MockOptions } from "../../helpers/wires/openai_mock.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { launched } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const NO_PROVIDER: Readonly<Record<string, string>> = { VIS_BASE_URL: "", VIS_API_KEY: "", VIS_MODEL: "" };

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name).catch(() => [])).sort();
}

async function copiesOf(user: User): Promise<readonly string[]> {
  return (await namesIn(user.temporary)).filter((name) => name.startsWith("vis-replay-"));
}

/** Returns a block that reads by an absolute path, writes a file and returns texts that name the workspace. */
function writing(workspace: string): string {
  const input = JSON.stringify(join(workspace, "in.txt"));
  return replyJson(
    [
      `const text = await fs.readFile(${input}); await fs.writeFile("out.txt", text + "!")`,
      `const at = ${input}; at`,
      "await fs.readFile('out.txt')",
    ],
    { final: "{{text}} is in {{at}}" },
  );
}

async function withRecording(launcher: Launcher, reply: (user: User) => string): Promise<{ user: User; id: string }> {
  const holder: { user: User | null } = { user: null };
  const model: MockOptions = { handler: () => holder.user ? reply(holder.user) : final("no") };
  const user = holder.user = await User.make(launcher, model);
  await user.write("in.txt", "one");
  await user.write("go", "");
  const { code, stderr } = await user.run(["run", "Write it"]);
  assert.equal(code, 0, stderr);
  await Deno.remove(join(user.workspace, "go"));
  return { user, id: (await user.queries()).branch.conversationId };
}

export function replaySuite(launcher: Launcher): void {
  launched(launcher, "vis replay works in a copy of the workspace, and with --in-place in itself", async () => {
    const { user, id } = await withRecording(launcher, ({ workspace }) => writing(workspace));
    await using _user = user;
    const out = join(user.workspace, "out.txt"), checkpoints = user.path("vis/checkpoints");
    assert.equal(await Deno.readTextFile(out), "one!");
    await Deno.remove(out);
    const kept = await namesIn(checkpoints);

    const same = await user.run(["replay", id], { env: NO_PROVIDER });
    assert.deepEqual([same.code, same.stdout], [0, "request 1 same · Write it\n"], same.stderr);
    assert.match(same.stderr, /^replay · 1 of 1 request · in a copy of .*work space: 1 file, 3 bytes\n$/);
    assert.deepEqual(await namesIn(user.workspace), ["in.txt"]);
    assert.deepEqual([await namesIn(checkpoints), await copiesOf(user)], [kept, []]);
    const stored = await user.look((store) => store.listConversations({ limit: 10 }));
    assert.deepEqual(stored.map(({ conversationId }) => conversationId), [id]);

    await user.write("in.txt", "two");
    const other = await user.run(["replay", id], { env: NO_PROVIDER });
    assert.equal(other.code, 1);
    assert.match(other.stdout, /preview\n {4}- "one!"\n {4}\+ "two!"\n/);
    assert.ok(!other.stdout.includes("vis-replay-"), "paths are those that were recorded");
    assert.deepEqual(await namesIn(user.workspace), ["in.txt"]);

    assert.equal((await user.run(["replay", id, "--in-place"], { env: NO_PROVIDER })).code, 1);
    assert.equal(await Deno.readTextFile(out), "two!");
    assert.deepEqual(await copiesOf(user), []);
  });

  launched(launcher, "vis replay refuses to copy too much, and a workspace that is not there", async () => {
    const { user, id } = await withRecording(launcher, ({ workspace }) => writing(workspace));
    await using _user = user;
    const large = await user.write("large", "");
    await Deno.truncate(large, 2 ** 31); // The file takes no room on the disk.
    const refused = await user.run(["replay", id], { env: NO_PROVIDER });
    assert.deepEqual([refused.code, refused.stdout], [2, ""]);
    assert.match(
      refused.stderr,
      /^vis: Cannot copy .*work space for the replay: .* have more than 1024 MiB, the limit; .*--in-place/,
    );
    assert.deepEqual(await copiesOf(user), []);
    const missing = await user.run(["replay", id, "--cwd", user.path("gone")], { env: NO_PROVIDER });
    assert.equal(missing.code, 2);
    assert.match(
      missing.stderr,
      /^vis: Cannot use workspace .*gone: there is no such file or folder; name another folder with --cwd\n$/,
    );
  });

  launched(
    launcher,
    "vis replay removes its copy at Ctrl-C, and the next one that of a replay that was killed",
    async () => {
      const code = "await fs.writeFile('begun', ''); while (!(await fs.glob('go')).length) { await fs.glob('*') }; 1";
      const waiting = JSON.stringify({
        code: [{ expr: code, timeMs: 600_000 }],
        final: { answer: "{{1}} done", answerType: "text", confidence: "high" },
      });
      const { user, id } = await withRecording(launcher, () => waiting);
      await using _user = user;
      await Deno.remove(join(user.workspace, "begun"));
      const start = async (): Promise<ReturnType<User["start"]>> => {
        const running = user.start(["replay", id], { env: NO_PROVIDER });
        await running.until("block", async () => {
          const names = await Promise.all(
            (await copiesOf(user)).map((name) => namesIn(join(user.temporary, name, "work space"))),
          );
          return names.flat().includes("begun");
        });
        return running;
      };
      const cancelled = await start();
      cancelled.kill("SIGINT");
      const { code: exit, stdout } = await cancelled.ended;
      assert.deepEqual([exit, stdout, await copiesOf(user)], [130, "", []]);

      const killed = await start();
      killed.kill("SIGKILL");
      await killed.ended;
      const [left = "", ...others] = await copiesOf(user);
      assert.ok(left !== "" && others.length === 0);
      const next = user.start(["replay", id], { env: NO_PROVIDER });
      await next.until("removal", async () => !(await copiesOf(user)).includes(left));
      await next.until("copy", async () => (await copiesOf(user)).length === 1);
      next.kill("SIGTERM");
      assert.equal((await next.ended).code, 130);
      assert.deepEqual([await copiesOf(user), await namesIn(user.workspace)], [[], ["in.txt"]]);
    },
  );
}
