import assert from "node:assert/strict";
import { join } from "node:path";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { MockOptions } from "../../helpers/wires/openai_mock.ts";
import type { Launcher } from "../_launcher.ts";
import { checkEvents } from "../helpers/events.ts";
import { launched, together } from "../helpers/together.ts";
import { KEY, type Ran, User } from "../helpers/user.ts";

function answered(ran: Ran, stdout: string): void {
  assert.deepEqual([ran.code, ran.stdout], [0, stdout], ran.stderr);
}

/** What flags, variables and the configuration file make of a query. */
export function runOptionsSuite(launcher: Launcher): void {
  const withUser = (work: (user: User) => Promise<void>, model?: MockOptions) => async (): Promise<void> => {
    await using user = await User.make(launcher, model);
    await work(user);
  };

  launched(launcher, "vis run writes what --output asks for", async (t) => {
    const reply = [replyJson("const n = 6 * 7", { thinking: "compute" }), final("It is {{n}}")];
    await together(t, {
      "text: the answer and one line end": withUser(async (user) => {
        answered(await user.run(["run", "6 × 7?"]), "It is 42\n");
      }, { reply }),
      "without run, in a pipe": withUser(async (user) => {
        answered(await user.run(["6 × 7?"]), "It is 42\n");
        answered(await user.run(["-c", "-p", "and", "once", "more?"]), "It is 42\n");
      }, { reply: [...reply, final("It is {{n}}")] }),
      "text: an answer that ends its line keeps it": withUser(async (user) => {
        answered(await user.run(["run", "list"]), "a\nb\n");
      }, { reply: final("a\nb\n") }),
      "json: one QueryResult": withUser(async (user) => {
        const ran = await user.run(["run", "--output", "json", "6 × 7?"]);
        const result = JSON.parse(ran.stdout);
        assert.equal(ran.code, 0);
        const { status, reason, answer, answerType, confidence, iterations, notes } = result;
        assert.deepEqual({ status, reason, answer, answerType, confidence, iterations, notes }, {
          status: "done",
          reason: "answered",
          answer: "It is 42",
          answerType: "text",
          confidence: "high",
          iterations: 2,
          notes: [],
        });
        assert.deepEqual(Object.keys(result.usage).sort(), ["cached", "calls", "input", "output", "reasoning"]);
        assert.equal(result.usage.calls, 2);
        const { branch, queries } = await user.queries();
        assert.deepEqual([result.conversationId, result.queryId], [branch.conversationId, queries[0]?.queryId]);
      }, { reply }),
      "jsonl: every event, the result last": withUser(async (user) => {
        const ran = await user.run(["run", "--output", "jsonl", "--quiet", "6 × 7?"]);
        assert.deepEqual([ran.code, ran.stderr], [0, ""]);
        const events = checkEvents(ran.stdout);
        assert.equal(events.at(-1)?.type, "final");
        const types = new Set(events.map(({ type }) => type));
        for (const type of ["started", "thinking", "code", "block_started", "block_finished", "usage"] as const) {
          assert.ok(types.has(type), type);
        }
      }, { reply }),
      "jsonl: a query that fails": withUser(async (user) => {
        const ran = await user.run(["run", "--output", "jsonl", "x"], { env: { VIS_API_KEY: "wrong" } });
        assert.equal(ran.code, 1);
        assert.equal(checkEvents(ran.stdout).at(-1)?.type, "failed");
      }),
      "--quiet: nothing on stderr": withUser(async (user) => {
        assert.deepEqual(await user.run(["run", "-q", "6 × 7?"]), {
          code: 0,
          signal: null,
          stdout: "It is 42\n",
          stderr: "",
        });
      }, { reply }),
      "--verbose: whole blocks and results": withUser(async (user) => {
        const code = 'console.log("said aloud")\nconst list = [1,\n  2]\nlist.length';
        const ran = await user.run(["run", "--verbose", "x"]);
        answered(ran, "2 of them\n");
        assert.equal(code.split("\n").every((line) => ran.stderr.includes(line)), true, ran.stderr);
        assert.match(ran.stderr, /^ {4}said aloud$/m);
      }, {
        reply: replyJson('console.log("said aloud")\nconst list = [1,\n  2]\nlist.length', { final: "2 of them" }),
      }),
      "an answer reaches a file as it is": withUser(async (user) => {
        await user.write("crlf.csv", "a,b\r\n1,2\r\n");
        answered(await user.run(["run", "-q", "x"]), "a,b\r\n1,2\r\n");
      }, { reply: replyJson('const text = await fs.readFile("crlf.csv")', { final: "text" }) }),
      "what would command a terminal is shown as text": withUser(async (user) => {
        const { stdout, stderr } = await user.run(["run", "-v", "x"]); // every run is checked for escape characters
        assert.equal(stdout, "Fine so far\n");
        assert.match(stderr, /\\u001b\[2J.*\\u001b\]0;title\\u0007/);
        assert.match(stderr, /Error: \\u001b\[31mred/);
      }, {
        reply: [
          replyJson([
            '"\u001b[2J"; console.log("\\u001b[2J" + "\u001b]0;title\u0007")',
            'throw new Error("\\u001b[31mred")',
          ]),
          final("Fine so far"),
        ],
      }),
    });
  });

  launched(launcher, "vis run takes its settings from flags, variables and the file", async (t) => {
    await together(t, {
      "--model over VIS_MODEL over the file": withUser(async (user) => {
        await Deno.mkdir(user.path("vis"));
        await Deno.writeTextFile(user.path("vis/config.jsonc"), '{ "model": "from-file", /* a comment */ }');
        await user.run(["run", "x", "--model", "from-flag"]);
        await user.run(["run", "x"]);
        await user.run(["run", "x"], { env: { VIS_MODEL: "" } });
        assert.deepEqual(user.mock.requests.map(({ body }) => body.model), ["from-flag", "mock-1", "from-file"]);
      }, { reply: final("It is so") }),
      "the key goes to the server": withUser(async (user) => {
        answered(await user.run(["run", "x"]), "It is so\n");
        assert.equal(user.mock.requests[0]?.headers["authorization"], `Bearer ${KEY}`);
        const other = { VIS_API_KEY: "", OPENAI_API_KEY: KEY };
        answered(await user.run(["run", "x"], { env: other }), "It is so\n");
      }, { reply: final("It is so") }),
      "--db and VIS_DB": withUser(async (user) => {
        answered(
          await user.run(["run", "x", "--db", user.path("flag.db")], { env: { VIS_DB: user.path("env.db") } }),
          "Yes it is\n",
        );
        answered(await user.run(["run", "x"], { env: { VIS_DB: user.path("env.db") } }), "Yes it is\n");
        answered(await user.run(["run", "x", "--db", "deep/er/relative.db"]), "Yes it is\n");
        answered(await user.run(["run", "x", "--db", ":memory:"]), "Yes it is\n");
        const files = [user.path("flag.db"), user.path("env.db"), join(user.workspace, "deep/er/relative.db")];
        for (const file of files) assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);
        await assert.rejects(Deno.stat(user.database), Deno.errors.NotFound);
        await assert.rejects(Deno.stat(join(user.workspace, ":memory:")), Deno.errors.NotFound);
      }, { reply: final("Yes it is") }),
      "without VIS_HOME the home": withUser(async (user) => {
        answered(await user.run(["run", "x"], { env: { VIS_HOME: "" } }), "Yes it is\n");
        assert.equal((await Deno.stat(join(user.home, ".vis/vis.db"))).mode! & 0o777, 0o600);
        assert.equal((await Deno.stat(join(user.home, ".vis"))).mode! & 0o777, 0o700);
      }, { reply: final("Yes it is") }),
      "--cwd": withUser(async (user) => {
        await Deno.mkdir(user.path("other"));
        await Deno.writeTextFile(user.path("other/there.txt"), "from there");
        await Deno.symlink(user.path("other"), user.path("link"));
        answered(await user.run(["run", "x", "--cwd", user.path("link")]), "from there\n");
        assert.match(user.mock.requests[0]?.texts[0] ?? "", new RegExp(`${user.path("other")}\\b`));
      }, { reply: replyJson('const text = await fs.readFile("there.txt")', { final: "text" }) }),
      "--max-iterations": withUser(async (user) => {
        const ran = await user.run(["run", "--max-iterations", "2", "x"]);
        assert.equal(ran.code, 1);
        assert.match(user.mock.requests[0]?.context ?? "", /^\[iter 1\/2\]/);
        assert.equal(user.mock.requests.length, 3);
      }, { reply: replyJson("Date.now()") }),
      "the config file's budget": withUser(async (user) => {
        await Deno.mkdir(user.path("vis"));
        await Deno.writeTextFile(user.path("vis/config.jsonc"), '{ "budget": { "iterations": 7 } }');
        await user.run(["run", "x"]);
        assert.match(user.mock.requests[0]?.context ?? "", /^\[iter 1\/7\]/);
      }, { reply: final("Yes it is") }),
    });
  });
}
