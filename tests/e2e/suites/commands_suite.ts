import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { MockOptions } from "../../helpers/wires/openai_mock.ts";
import type { Launcher } from "../_launcher.ts";
import { launched, together } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const NO_PROVIDER: Readonly<Record<string, string>> = { VIS_BASE_URL: "", VIS_API_KEY: "", VIS_MODEL: "" };
const WALLS = ["realm", "permissions", "process", "kernel"];

/** The commands besides `run`. */
export function commandsSuite(launcher: Launcher): void {
  const withUser = (work: (user: User) => Promise<void>, model?: MockOptions) => async (): Promise<void> => {
    await using user = await User.make(launcher, model);
    await work(user);
  };

  launched(launcher, "vis says what it can do", async (t) => {
    await together(t, {
      "help": withUser(async (user) => {
        const { code, stdout, stderr } = await user.run(["help"], { env: NO_PROVIDER });
        assert.deepEqual([code, stderr], [0, ""]);
        for (const command of ["run", "demo", "doctor", "version", "help"]) {
          assert.match(stdout, new RegExp(`^ {2}${command}\\b.{3,}`, "m"));
        }
        for (const args of [["-h"], ["--help"]]) {
          assert.deepEqual(await user.run(args, { env: NO_PROVIDER }), { code: 0, signal: null, stdout, stderr: "" });
        }
        assert.ok(stdout.split("\n").every((line) => line.length <= 100), stdout);
      }),
      "help run": withUser(async (user) => {
        const { code, stdout, stderr } = await user.run(["help", "run"], { env: NO_PROVIDER });
        assert.deepEqual([code, stderr], [0, ""]);
        const flags = [
          "continue",
          "conversation",
          "model",
          "provider",
          "max-iterations",
          "output",
          "db",
          "cwd",
          "quiet",
        ];
        for (const flag of flags) assert.match(stdout, new RegExp(`--${flag}\\b`));
        assert.match(stdout, /Exit codes: 0 .* 1 .* 2 .* 3 [^.]*\s130/);
        assert.equal((await user.run(["run", "--help"])).stdout, stdout);
      }),
      "help of a command that would do something": withUser(async (user) => {
        assert.equal((await user.run(["run", "x"])).code, 0);
        const { branch: { conversationId: id } } = await user.queries();
        const asked = user.mock.requests.length;
        const commands = [["conversations", "delete", id, "--yes"], ["run", "foo"], [
          "conversations",
          "rename",
          id,
          "y",
        ]];
        for (const command of commands) {
          for (const args of [["help", ...command], ["--help", ...command], [...command, "--help"]]) {
            const { code, stdout, stderr } = await user.run(args);
            assert.deepEqual([code, stderr], [0, ""]);
            assert.match(stdout, new RegExp(`^Usage: vis ${command[0]}`), args.join(" "));
          }
        }
        const { branch, queries } = await user.queries();
        assert.deepEqual([branch.conversationId, branch.title, queries.length], [id, "x", 1]);
        assert.equal(user.mock.requests.length, asked);
      }, { reply: final("done") }),
      "help of what is none": withUser(async (user) => {
        const { code, stdout, stderr } = await user.run(["help", "rnu"]);
        assert.deepEqual([code, stdout], [2, ""]);
        assert.match(stderr, /^vis: unknown command 'rnu'/);
      }),
    });
  });

  launched(launcher, "vis doctor tries what vis needs", async (t) => {
    await together(t, {
      "as JSON": withUser(async (user) => {
        const { code, stdout, stderr } = await user.run(["doctor", "--json"]);
        const checks: { name: string; state: string; found: string; fix: string }[] = JSON.parse(stdout);
        assert.equal(stderr, "");
        const names = checks.map(({ name }) => name);
        const walls = WALLS.map((wall) => `wall: ${wall}`);
        const first = ["runtime", "configuration", "home", ...walls, "database", "provider"];
        assert.deepEqual(names.filter((name) => first.includes(name)), first);
        assert.ok(names.includes("extensions"));
        for (const { state, found, fix } of checks) {
          assert.ok(["ok", "warn", "fail", "off"].includes(state) && found !== "", stdout);
          if (state !== "off") assert.equal(fix !== "", state !== "ok", stdout);
        }
        assert.equal(code, checks.some(({ state }) => state === "fail") ? 1 : 0);
      }),
      "without a provider": withUser(async (user) => {
        await user.findNoServers();
        const { stdout } = await user.run(["doctor"], { env: NO_PROVIDER });
        assert.match(stdout, /^! provider +No provider is configured/m);
        assert.match(stdout, /→ .*VIS_BASE_URL/);
      }),
      "with a wrong key": withUser(async (user) => {
        const { code, stdout } = await user.run(["doctor"], { env: { VIS_API_KEY: "wrong-4711" } });
        assert.equal(code, 1);
        assert.match(stdout, /^✗ provider .*401/m);
        assert.doesNotMatch(stdout, /wrong-4711/);
      }),
      "with a model that the server has not": withUser(async (user) => {
        const { stdout } = await user.run(["doctor"], { env: { VIS_MODEL: "mock-9" } });
        assert.match(stdout, /^! provider .*does not list this model\n {4}→ It has mock-1$/m);
      }),
      "with a broken database": withUser(async (user) => {
        const path = await user.write("x.db", "no database ".repeat(100));
        const { code, stdout } = await user.run(["doctor", "--db", path]);
        assert.equal(code, 1);
        assert.match(stdout, /^✗ database +.*is not a database/m);
      }),
      "with a broken configuration": withUser(async (user) => {
        await Deno.mkdir(user.path("vis"));
        await Deno.writeTextFile(user.path("vis/config.jsonc"), '{ "sandbox": { "walls": [] } }');
        const { code, stdout } = await user.run(["doctor"]);
        assert.equal(code, 1);
        assert.match(stdout, /^✗ configuration +.*config\.jsonc: .*walls/m);
      }),
    });
  });

  launched(launcher, "vis run plays the demo's policies under their own name", async () => {
    await using user = await User.make(launcher, { reply: replyJson([]) });
    await user.write("a.txt", "TODO\n");
    const ask = ["run", "--provider", "demo", "Which files here mention TODO, and how often?"];
    const { code, stdout, stderr } = await user.run(ask, { env: NO_PROVIDER });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /a\.txt/);
    assert.match(stderr, /^vis · demo /);
  });
}
