import assert from "node:assert/strict";
import { join } from "node:path";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { checkEvents } from "../helpers/events.ts";
import { launched, together } from "../helpers/together.ts";
import { answered, KEY, usersOf } from "../helpers/user.ts";

const SAYS = 'console.log("said aloud")\nconst list = [1,\n  2]\nlist.length';

export function runOptionsSuite(launcher: Launcher): void {
  const withUser = usersOf(launcher);

  launched(launcher, "vis run writes what --output asks for", async (t) => {
    const reply = [replyJson("const n = 6 * 7", { thinking: "compute" }), final("It is {{n}}")];
    await together(t, {
      "without run, in a pipe": withUser(async (user) => {
        answered(await user.run(["6 × 7?"]), "It is 42\n");
        answered(await user.run(["-c", "-p", "and", "once", "more?"]), "It is 42\n");
      }, { reply: [...reply, final("It is {{n}}")] }),
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
        assert.equal(result.trace, undefined);
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
      "--quiet: an answer reaches a file as it is, and nothing stderr": withUser(async (user) => {
        await user.write("crlf.csv", "a,b\r\n1,2\r\n");
        const ran = await user.run(["run", "-q", "x"]);
        assert.deepEqual(ran, { code: 0, signal: null, stdout: "a,b\r\n1,2\r\n", stderr: "" });
      }, { reply: replyJson('const text = await fs.readFile("crlf.csv")', { final: "text" }) }),
      "--verbose: whole blocks and results, and what would command a terminal as text": withUser(async (user) => {
        // Every run is checked for escape characters.
        const { code, stdout, stderr } = await user.run(["run", "-v", "x"]);
        assert.deepEqual([code, stdout], [0, "Fine so far\n"]);
        assert.equal(SAYS.split("\n").every((line) => stderr.includes(line)), true, stderr);
        assert.match(stderr, /^ {4}said aloud$/m);
        assert.match(stderr, /\\u001b\[2J.*\\u001b\]0;title\\u0007/);
        assert.match(stderr, /Error: \\u001b\[31mred/);
      }, {
        reply: [
          replyJson([
            SAYS,
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
      "the file, with the usual key": withUser(async (user) => {
        await Deno.mkdir(user.path("vis"));
        await Deno.writeTextFile(
          user.path("vis/config.jsonc"),
          '{ "model": "from-file", /* a comment */ "budget": { "iterations": 7 } }',
        );
        answered(
          await user.run(["run", "x"], { env: { VIS_MODEL: "", VIS_API_KEY: "", OPENAI_API_KEY: KEY } }),
          "It is so\n",
        );
        const [asked] = user.mock.requests;
        assert.equal(asked?.body.model, "from-file");
        assert.equal(asked?.headers["authorization"], `Bearer ${KEY}`);
        assert.match(asked?.context ?? "", /^\[iter 1\/7\]/);
      }, { reply: final("It is so") }),
      "flags over variables": withUser(async (user) => {
        await Deno.mkdir(user.path("other"));
        await Deno.writeTextFile(user.path("other/there.txt"), "from there");
        await Deno.symlink(user.path("other"), user.path("link"));
        const flags = ["--model", "from-flag", "--db", "deep/er/relative.db", "--cwd", user.path("link")];
        answered(await user.run(["run", "x", ...flags], { env: { VIS_DB: user.path("env.db") } }), "from there\n");
        const [asked] = user.mock.requests;
        assert.equal(asked?.body.model, "from-flag");
        assert.match(asked?.texts[0] ?? "", new RegExp(`${user.path("other")}\\b`));
        assert.equal((await Deno.stat(join(user.workspace, "deep/er/relative.db"))).mode! & 0o777, 0o600);
        for (const path of [user.database, user.path("env.db")]) {
          await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
        }
      }, { reply: replyJson('const text = await fs.readFile("there.txt")', { final: "text" }) }),
      "VIS_DB, and a database of no file": withUser(async (user) => {
        answered(await user.run(["run", "x"], { env: { VIS_DB: user.path("env.db") } }), "Yes it is\n");
        assert.equal((await Deno.stat(user.path("env.db"))).mode! & 0o777, 0o600);
        answered(await user.run(["run", "x", "--db", ":memory:"]), "Yes it is\n");
        for (const path of [user.database, join(user.workspace, ":memory:")]) {
          await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
        }
      }, { reply: final("Yes it is") }),
      "without VIS_HOME the home": withUser(async (user) => {
        answered(await user.run(["run", "x"], { env: { VIS_HOME: "" } }), "Yes it is\n");
        assert.equal((await Deno.stat(join(user.home, ".vis/vis.db"))).mode! & 0o777, 0o600);
        assert.equal((await Deno.stat(join(user.home, ".vis"))).mode! & 0o777, 0o700);
      }, { reply: final("Yes it is") }),
    });
  });
}
