import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { MockOptions } from "../../helpers/wires/openai_mock.ts";
import type { Launcher } from "../_launcher.ts";
import { launched, together } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const NO_VARIABLES = { VIS_BASE_URL: "", VIS_API_KEY: "", VIS_MODEL: "" };

async function configure(user: User, more: object = {}): Promise<void> {
  await Deno.mkdir(user.path("vis"), { recursive: true });
  const models = ["mock-1", "mock-2"].map((name) => ({ name, price: { input: 1000, output: 1000 }, reasoning: true }));
  const providers = [{ name: "shop", preset: "openai", baseUrl: user.mock.baseUrl, keyEnv: "SHOP_KEY", models }];
  await Deno.writeTextFile(user.path("vis/config.jsonc"), JSON.stringify({ localServers: false, providers, ...more }));
}

export function flagsSuite(launcher: Launcher): void {
  const withUser =
    (work: (user: User, env: Record<string, string>) => Promise<void>, model: MockOptions) => async () => {
      await using user = await User.make(launcher, model);
      await configure(user);
      await work(user, { ...NO_VARIABLES, SHOP_KEY: user.env["VIS_API_KEY"] ?? "" });
    };
  launched(launcher, "vis run does what its flags say", async (t) => {
    const look = replyJson("typeof fs", { thinking: "is it\nthere?" });
    await together(t, {
      "--model, --reasoning and --max-cost": withUser(async (user, env) => {
        const flags = ["--model", "mock-2", "--reasoning", "deep", "--max-cost", "$900"];
        const ran = await user.run(["run", ...flags, "go on"], { env });
        assert.deepEqual([ran.code, ran.stdout], [0, "It is so\n"]);
        assert.match(ran.stderr, /1 step · \d+\.\d s · \d+ in \+ \d+ out tokens · \$\d+\.\d{4}\n$/);
        const { model, reasoning_effort: effort } = user.mock.requests[0]?.body ?? {};
        assert.deepEqual([model, effort], ["mock-2", "high"]);
      }, { reply: final("It is so") }),
      "--timeout ends a query that takes longer": withUser(async (user, env) => {
        const ran = await user.run(["run", "--timeout", "400ms", "--output", "json", "wait"], { env });
        assert.deepEqual([ran.code, JSON.parse(ran.stdout).reason], [1, "limit_time"], ran.stderr);
      }, { reply: { text: final("late"), delayMs: 20_000 } }),
      "--provider refuses a name that is none": withUser(async (user, env) => {
        const ran = await user.run(["run", "--provider", "shpo", "x"], { env });
        assert.deepEqual([ran.code, user.mock.requests.length], [3, 0]);
        assert.match(ran.stderr, /shpo/);
      }, { reply: final("It is so") }),
      "--no-extension leaves one out, and --trace shows thinking, tokens and times on stderr": withUser(
        async (user, env) => {
          const { code, stderr } = await user.run(["run", "--no-extension", "fs", "--trace", "x"], { env });
          assert.equal(code, 0, stderr);
          assert.match(
            user.mock.requests[2]?.context ?? "",
            /Cannot call fs\.glob: fs is off; the user can change this \(/,
          );
          assert.doesNotMatch(user.mock.requests[0]?.texts.join("\n") ?? "", /namespace: fs/);
          assert.match(stderr, /^~ is it\n~ there\?$/m);
          assert.match(stderr, /^\[1\] \d+ in \+ \d+ out tokens$/m);
          assert.match(stderr, /^\[1\] executed after \d+ ms$/m);
        },
        { reply: [look, replyJson("await fs.glob('*')"), final("It is so")] },
      ),
      "--no-extension refuses a name that is none": withUser(async (user, env) => {
        const ran = await user.run(["run", "--no-extension", "memmo", "x"], { env });
        assert.deepEqual([ran.code, ran.stdout, user.mock.requests.length], [2, "", 0]);
        assert.match(
          ran.stderr,
          /^vis: Cannot leave out extension memmo: no extension has this name; did you mean memo\?\n$/,
        );
      }, { reply: final("It is so") }),
      "--trace is in the JSON too, and --quiet says nothing": withUser(async (user, env) => {
        const { code, stdout, stderr } = await user.run(["run", "--trace", "-q", "--json", "x"], { env });
        const { trace, answer } = JSON.parse(stdout);
        assert.deepEqual([code, stderr, answer, trace.text], [0, "", "seen", "x"]);
        assert.equal(trace.iterations[0].blocks[0].code, "typeof fs");
      }, { reply: [look, final("seen")] }),
    });
  });

  launched(launcher, "vis takes settings of a workspace, refuses what may harm, and vis config says so", async (t) => {
    const project = (user: User, text: string) =>
      Deno.mkdir(`${user.workspace}/.vis`, { recursive: true }).then(() => user.write(".vis/config.jsonc", text));
    await together(t, {
      "a harmless one holds": withUser(async (user, env) => {
        await project(user, '{ "budget": { "iterations": 1 } }');
        const ran = await user.run(["run", "--json", "x"], { env });
        // The first look brings new data, which adds four.
        assert.deepEqual([ran.code, JSON.parse(ran.stdout).iterations], [1, 6]);
      }, { reply: replyJson("1") }),
      "another one is refused before anything is asked": withUser(async (user, env) => {
        await project(user, '{ "baseUrl": "http://127.0.0.1:1/v1" }');
        const ran = await user.run(["run", "x"], { env });
        assert.deepEqual([ran.code, ran.stdout, user.mock.requests.length], [3, "", 0]);
        assert.match(
          ran.stderr,
          /^vis: Cannot use .*: baseUrl cannot come from an untrusted workspace.*vis config trust\n$/,
        );
        assert.equal((await user.run(["config", "trust", "--yes"], { env })).code, 0);
        assert.match((await user.run(["run", "-q", "--model", "m", "x"], { env })).stderr, /127\.0\.0\.1:1/);
      }, { reply: final("never") }),
      "vis config set writes what the next run uses": withUser(async (user, env) => {
        assert.equal((await user.run(["config", "set", "budget.ceiling", "1"], { env })).code, 0);
        assert.equal(JSON.parse((await user.run(["run", "--json", "x"], { env })).stdout).iterations, 2);
      }, { reply: replyJson("1") }),
    });
  });

  launched(launcher, "vis alone says what to do first, or what it would use", async (t) => {
    await together(t, {
      "nothing is configured": withUser(async (user) => {
        await Deno.writeTextFile(user.path("vis/config.jsonc"), '{ "localServers": false }');
        const { code, stdout, stderr } = await user.run([], { env: NO_VARIABLES });
        assert.deepEqual([code, stdout], [3, ""]);
        assert.match(
          stderr,
          /^vis: Cannot choose a model: no provider is configured[\s\S]*vis auth login[\s\S]*vis demo\n/,
        );
        assert.ok(stderr.trimEnd().split("\n").length <= 7, stderr);
      }, {}),
      "something is": withUser(async (user, env) => {
        const { code, stdout, stderr } = await user.run([], { env });
        assert.equal(code, 0);
        assert.match(stdout, /^Usage: vis /);
        assert.match(stderr, /^vis · uses shop mock-1: vis run "…"$/m);
      }, {}),
    });
  });

  launched(launcher, "vis completions makes a real bash complete what is there", async () => {
    await using user = await User.make(launcher, { reply: final("It is so") });
    assert.equal((await user.run(["run", "what?"])).code, 0);
    const { branch: { conversationId } } = await user.queries();
    const script = await user.write("completion.bash", (await user.run(["completions", "bash"])).stdout);
    const tab = async (...words: string[]): Promise<string> => {
      const line = 'source "$1"; program=$2; shift 2; COMP_WORDS=("$program" "$@"); COMP_CWORD=$#; _vis "$program"; ' +
        'printf "%s\\n" "${COMPREPLY[@]}"';
      const { stdout, stderr } = await new Deno.Command("bash", {
        args: ["--norc", "-c", line, "bash", script, launcher.argv[0], ...words],
        clearEnv: true,
        env: user.env,
        cwd: user.workspace,
      }).output();
      assert.equal(new TextDecoder().decode(stderr), "");
      return new TextDecoder().decode(stdout).trimEnd();
    };
    assert.equal(await tab("conversations", "show", ""), conversationId);
    assert.equal(await tab("config", "get", "budget.it"), "budget.iterations");
    assert.equal(await tab("run", "--model", "mo"), "mock-1");
    assert.equal(await tab("run", "--context", "compl"), "completion.bash");
  });

  launched(
    launcher,
    "vis run shows a live line on a terminal that leaves nothing behind, colours only where wanted",
    async (t) => {
      const onTerminal = async (user: User, env: Record<string, string>): Promise<string> => {
        const command = [...launcher.argv, "run", "what?"].map((word) => `'${word}'`).join(" ");
        const { stdout, success } = await new Deno.Command("script", {
          args: ["-qec", command, "/dev/null"],
          clearEnv: true,
          env: { ...user.env, TERM: "xterm", ...env },
          cwd: user.workspace,
          stdin: "null",
        }).output();
        const text = new TextDecoder().decode(stdout);
        assert.ok(success, text);
        return text;
      };
      const model = { reply: { text: final("It is so"), delayMs: 200 } };
      const LIVE = /waiting for mock-1…[^\n]*\r\p{Cc}\[2K/u, COLOUR = /\p{Cc}\[\d+m/u;
      await together(t, {
        "a line and colours": withUser(async (user) => {
          const text = await onTerminal(user, {});
          assert.match(text, LIVE);
          assert.match(text, COLOUR);
          const last = text.slice(text.lastIndexOf("\x1b[2K") + 4);
          assert.doesNotMatch(last, /waiting/);
          assert.match(last, /It is so\r\n1 step · /);
        }, model),
        "NO_COLOR keeps the line": withUser(async (user) => {
          const text = await onTerminal(user, { NO_COLOR: "1" });
          assert.match(text, LIVE);
          assert.doesNotMatch(text, COLOUR);
        }, model),
        "a dumb terminal gets neither": withUser(async (user) => {
          assert.ok(!(await onTerminal(user, { TERM: "dumb" })).includes("\x1b"));
        }, model),
      });
    },
  );
}
