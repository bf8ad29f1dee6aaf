import assert from "node:assert/strict";
import { ApprovalFolder } from "../../../src/app/session/approval_folder.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { noPty, Pty } from "../helpers/pty.ts";
import { launched, together } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const ASKS = replyJson(
  "const said = await shell.run('echo ran', {network: true}).then((r) => r.stdout.trim(), (e) => e.message)",
);
const SAID = final("{{said}}");
/** The answer on stdout follows the live line. */
const RAN = /\[(?:2K|J)ran\r\n/;
const NO = /^Cannot run the command: it needs an approval of network for echo ran, and /;

const RUNS = replyJson("const said = await shell.run('echo ran').then((r) => r.stdout.trim(), (e) => e.message)");
const WRITES = replyJson(
  "const said = await fs.writeFile('.hooks/pre-commit', 'x').then(() => 'written', (e) => e.message)",
);
const OPAQUE = RUNS.replace("echo ran", "echo $(echo ran)");
/** Starts a program that cannot make namespaces for its own programs. */
const WITHOUT_NAMESPACES = Deno.uid() === 0 ? ["/usr/bin/setpriv", "--bounding-set=-sys_admin"] as const : [
  ...["/usr/bin/unshare", "--user", "--map-current-user", "--keep-caps"] as const,
  ...["/bin/sh", "-c", 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"', "sh"] as const,
] as const;

const rules = async (user: User) => await new ApprovalFolder(user.path("vis")).all();

export function approvalsSuite(launcher: Launcher): void {
  const unwalled = { ...launcher, argv: [...WITHOUT_NAMESPACES, ...launcher.argv] as const };
  launched(unwalled, "where the wall is not whole, a command is refused at once without anybody to ask", async () => {
    await using user = await User.make(unwalled, { reply: [RUNS, SAID, RUNS, SAID] });
    assert.match(
      (await user.run(["run", "x"])).stdout,
      /^Cannot run echo ran: no user can answer here \(Vis asks before commands, because /,
    );
    assert.match(user.mock.requests[0]?.texts.join("\n") ?? "", /The user is asked for each: /);
    const free = await user.run(["run", "--shell", "run", "y"]);
    assert.equal(free.stdout, "ran\n");
    assert.match(free.stderr, /Commands run without a question behind an incomplete wall/);
    assert.match(free.stderr, /Commands ran without a question/);
  });

  const onTerminal = { ...unwalled, missing: launcher.missing || noPty };
  launched(onTerminal, "where the wall is not whole, vis run asks on the terminal", async () => {
    await using user = await User.make(unwalled, { reply: [RUNS, OPAQUE, SAID, RUNS, SAID] });
    const pty = new Pty(user, ["run", "x"]);
    await pty.until("Answer with a letter");
    assert.match(
      pty.screen().replace(/\n/g, " "),
      /Allow Vis to run a command behind an incomplete command wall\?\s+echo ran\s/,
    );
    pty.type("a\r");
    await pty.until((screen) => screen.split("Answer with a letter").length > 2);
    const [, after] = pty.screen().replaceAll(/\s+/g, " ").split("Vis asks every time, because the command has $");
    assert.ok(after !== undefined, pty.screen());
    assert.doesNotMatch(after, /from now on/);
    pty.type("y\r");
    await pty.ended;
    assert.match(pty.raw, RAN);
    assert.deepEqual((await rules(user)).map(({ scope }) => scope), ["echo ran"]);
    assert.equal((await user.run(["run", "y"])).stdout, "ran\n");
  });
}

export function answersSuite(launcher: Launcher): void {
  const withUser =
    (work: (user: User) => Promise<void>, reply: readonly string[] = [ASKS, SAID]) => async (): Promise<void> => {
      await using user = await User.make(launcher, { reply });
      await work(user);
    };
  const answer = async (user: User, typed: string, args = ["run", "x"]): Promise<string> => {
    const pty = new Pty(user, args);
    await pty.until("Answer with a letter");
    pty.type(`${typed}\r`);
    await pty.ended;
    return pty.raw;
  };

  launched(launcher, "vis run is refused at once where nobody can be asked", async () => {
    await using user = await User.make(launcher, { reply: [ASKS, SAID] });
    const ran = await user.run(["run", "x"]);
    assert.match(ran.stdout, NO);
    assert.match(ran.stdout, /no user can answer here; vis config set shell\.network true/);
  });

  launched(launcher, "a hook that settings name is changed by an answer only", async () => {
    await using user = await User.make(launcher, { reply: [WRITES, SAID] });
    await Deno.mkdir(`${user.workspace}/.git`);
    await Deno.writeTextFile(`${user.workspace}/.git/HEAD`, "ref: refs/heads/main\n");
    await Deno.writeTextFile(`${user.workspace}/.git/config`, "[core]\n\thooksPath = .hooks\n");
    assert.match(
      (await user.run(["run", "x"])).stdout,
      /^Cannot change \.hooks\/pre-commit, which git runs by the setting core\.hooksPath: no user can answer here/,
    );
    await assert.rejects(Deno.stat(`${user.workspace}/.hooks`), Deno.errors.NotFound);
  });

  launched({ ...launcher, missing: launcher.missing || noPty }, "vis run asks on the terminal", async (t) => {
    await together(t, {
      "yes, once, and no, with a reason that the model reads": withUser(async (user) => {
        const pty = new Pty(user, ["run", "x"]);
        await pty.until("Answer with a letter");
        pty.type("y\r");
        await pty.until((screen) => screen.split("Answer with a letter").length > 2);
        pty.type("use the cache\r");
        await pty.ended;
        assert.match(user.mock.requests[1]?.context ?? "", /→ "ran"|= "ran"/);
        assert.match(pty.raw, /the user said no and wrote .{0,2}use the cache/);
        assert.match(user.mock.requests[2]?.context ?? "", /the user said no and wrote .{0,2}use the cache/);
        assert.deepEqual(await rules(user), []);
      }, [ASKS, ASKS, SAID]),
      "always, also where nobody can be asked, until it is removed": withUser(async (user) => {
        assert.match(await answer(user, "a"), RAN);
        const [rule] = await rules(user);
        assert.deepEqual([rule?.scope, rule?.conversationId], ["network for echo ran", null]);
        assert.equal((await user.run(["run", "y"])).stdout, "ran\n");
        assert.equal((await user.run(["approvals", "remove", "--all"])).code, 0);
        assert.match((await user.run(["run", "z"])).stdout, NO);
      }, [ASKS, SAID, ASKS, SAID, ASKS, SAID]),
      "for the conversation": withUser(async (user) => {
        assert.match(await answer(user, "c"), RAN);
        assert.equal((await user.run(["run", "-c", "y"])).stdout, "ran\n");
        assert.match((await user.run(["run", "z"])).stdout, NO);
      }, [ASKS, SAID, ASKS, SAID, ASKS, SAID]),
      "what was typed before the question is no answer": withUser(async (user) => {
        const pty = new Pty(user, ["run", "x"]);
        await pty.until("[1]");
        pty.type("y\ra\r");
        await pty.until(() => pty.raw.includes("y\r\n") && pty.raw.includes("a\r\n"));
        await Deno.writeTextFile(`${user.workspace}/go`, "");
        await pty.until("Answer with a letter");
        pty.type("n\r");
        await pty.ended;
        assert.match(pty.raw, /the user said no/);
        assert.deepEqual(await rules(user), []);
      }, [
        JSON.stringify({
          code: [{
            expr: "while (!(await fs.glob('go')).length) await new Promise((done) => setTimeout(done, 50))",
            timeMs: 60_000,
          }],
        }),
        ASKS,
        SAID,
      ]),
      "a kill while it waits loses nothing, and it asks again": withUser(async (user) => {
        const pty = new Pty(user, ["run", "x"]);
        await pty.until("Answer with a letter");
        Deno.kill(await pty.pid(), "SIGKILL");
        await pty.ended;
        assert.match(await answer(user, "y", ["run", "-c", "again"]), /\[(?:2K|J)ran 3\r\n/);
        const { queries } = await user.queries();
        assert.deepEqual(queries.map(({ reason }) => reason), ["process_lost", "answered"]);
      }, [replyJson("const kept = 3"), ASKS, ASKS, final("{{said}} {{kept}}")]),
      "approvals: never": withUser(async (user) => {
        await Deno.mkdir(user.path("vis"));
        await Deno.writeTextFile(user.path("vis/config.jsonc"), '{ "approvals": "never" }');
        const pty = new Pty(user, ["run", "x"]);
        await pty.ended;
        assert.match(pty.raw, /the setting approvals is never/);
        assert.doesNotMatch(pty.raw, /Answer with a letter/);
      }),
    });
  });
}
