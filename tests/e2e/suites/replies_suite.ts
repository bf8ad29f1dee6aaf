import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { launched, together } from "../helpers/together.ts";
import { usersOf } from "../helpers/user.ts";

export function repliesSuite(launcher: Launcher): void {
  const withUser = usersOf(launcher);

  launched(launcher, "vis run gets an answer out of a model that stumbles", async (t) => {
    await together(t, {
      "prose, broken JSON, nothing at all, an error, a refused answer, a binary file, files outside the workspace":
        withUser(async (user) => {
          await user.write("picture.bin", Uint8Array.from({ length: 4096 }, (_, at) => at * 7 % 256));
          await Deno.writeTextFile(user.path("secret.txt"), "the secret 4711");
          await Deno.symlink(user.path("secret.txt"), `${user.workspace}/link.txt`);
          const { code, stdout, stderr } = await user.run(["run", "--max-iterations", "9", "x"]);
          assert.deepEqual([code, stdout], [0, "At last 5\n"], stderr);
          const context = (step: number): string => user.mock.requests[step]?.context ?? "";
          for (const step of [1, 3, 4]) {
            assert.match(stderr, new RegExp(`^\\[${step}\\] no usable reply: `, "m"));
            assert.match(context(step), /<notes>[\s\S]*no usable reply/);
          }
          assert.match(stderr, /✗ throw new TypeError[^]*\n {4}TypeError: not today/);
          assert.match(context(5), /TypeError: not today/);
          assert.match(stderr, /^\[6\] answer refused: /m);
          assert.match(stderr, /✗ reading picture\.bin failed[^]*\n {4}Cannot read picture\.bin: it is a binary file/);
          assert.match(context(7), /picture\.bin/);
          assert.ok((user.mock.requests[7]?.bytes ?? Infinity) < 40_000);
          assert.equal(stderr.match(/✗/g)?.length, 6, stderr);
          for (const { texts } of user.mock.requests) {
            assert.doesNotMatch(texts.slice(3).join(""), /the secret 4711|root:/);
          }
          await assert.rejects(Deno.stat(user.path("made.txt")), Deno.errors.NotFound);
        }, {
          reply: [
            "Sure! Let me think about that for a moment.",
            '{"thinking":"x","code":[{"expr":"const k = 5"',
            '{{{"code": ][',
            "",
            replyJson("throw new TypeError('not today')"),
            final("done"),
            replyJson('await fs.readFile("picture.bin")'),
            replyJson([
              'await fs.readFile("../secret.txt")',
              'await fs.readFile("/etc/passwd")',
              'await fs.readFile("link.txt")',
              'await fs.writeFile("../made.txt", "x")',
            ]),
            final("At last {{k}}"),
          ],
        }),
      "a block that declares names of the sandbox, and one that reads what was shown": withUser(async (user) => {
        const ran = await user.run(["run", "x"]);
        assert.equal(ran.stdout, "function f(n) { return n ? f(n - 1) : 0 }|f|3|hi|process1|undefined2\n", ran.stderr);
        assert.match(
          user.mock.requests[1]?.context ?? "",
          /memo2|vars is now your variable; the original is vis\.vars/,
        );
        assert.doesNotMatch(JSON.stringify(user.mock.requests), /[\u200b-\u200d]/);
      }, {
        reply: [
          replyJson([
            "function f(n) { return n ? f(n - 1) : 0 }\nconst process = 'process1', vars = 1, close = 2, fetch = 3; print('hi'); fetch",
          ]),
          replyJson([
            "await answer([String(f), f.name, results[0], printed[0].trim(), process, typeof require + close].join('|'))",
          ]),
        ],
      }),
    });
  });

  launched(launcher, "vis run ends a model that never finishes, with what there is", async (t) => {
    let count = 0;
    await together(t, {
      "it goes on and on": withUser(async (user) => {
        const ran = await user.run(["run", "x"]);
        assert.equal(ran.code, 1);
        assert.equal(ran.stdout, "");
        assert.match(
          ran.stderr,
          /^vis: No answer within the budget of 40 steps[^]*still counting[^]*--more[^]*\n41 steps · /m,
        );
        assert.doesNotMatch(ran.stderr, /max_iterations/);
        assert.match(user.mock.requests[40]?.context ?? "", /last call/);
        assert.equal(user.mock.requests.length, 41);
        const { queries } = await user.queries();
        assert.deepEqual([queries[0]?.status, queries[0]?.reason], ["error", "max_iterations"]);
      }, { handler: () => replyJson(`const v${++count} = ${count}`, { thinking: "still counting" }) }),
      "it answers when told that it is over": withUser(async (user) => {
        const ran = await user.run(["run", "--output", "json", "--max-iterations", "1", "x"]);
        const { answer, status, reason, confidence } = JSON.parse(ran.stdout);
        assert.deepEqual([ran.code, answer, status, reason, confidence], [
          1,
          "Got to 1",
          "error",
          "max_iterations",
          "low",
        ]);
      }, { reply: [replyJson("const got = 1"), final("Got to {{got}}")] }),
      "it answers when told that it is over, in a pipe": withUser(async (user) => {
        const ran = await user.run(["run", "--max-iterations", "1", "x"]);
        assert.deepEqual([ran.code, ran.stdout], [1, "Got to 1\n"]);
        assert.match(
          ran.stderr,
          /^vis: Stopped at the step limit; this is the best answer so far\. .*\n\(vis run --more continues the request\)$/m,
        );
        const more = await user.run(["run", "--more"]);
        assert.deepEqual([more.code, more.stdout], [0, "All 2\n"], more.stderr);
        const { queries } = await user.queries();
        assert.equal(queries[1]?.text.endsWith("all variables are kept:\n\nx"), true);
        const again = await user.run(["run", "--more"]);
        assert.deepEqual([again.code, again.stdout], [2, ""]);
        assert.match(again.stderr, /it did not stop at its step limit \(answered\)/);
      }, { reply: [replyJson("const got = 1"), final("Got to {{got}}"), replyJson("got + 1", { final: "All 2" })] }),
      "its blocks never end": withUser(async (user) => {
        await Deno.mkdir(user.path("vis"));
        const config = { sandbox: { timeoutMs: 400, timeoutMinMs: 100, timeoutMaxMs: 400 } };
        await Deno.writeTextFile(user.path("vis/config.jsonc"), JSON.stringify(config));
        const ran = await user.run(["run", "x"]);
        assert.deepEqual([ran.code, ran.stdout], [0, "kept: 1\n"], ran.stderr);
        assert.match(user.mock.requests[1]?.context ?? "", /400 ms|timeout|timed out/i);
      }, {
        reply: [
          replyJson(["const kept = 1", "while (true) {}", "await new Promise(() => {})"]),
          final("kept: {{kept}}"),
        ],
      }),
    });
  });
}
