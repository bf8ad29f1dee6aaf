import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { MockOptions } from "../../helpers/wires/openai_mock.ts";
import type { Launcher } from "../_launcher.ts";
import { launched, together } from "../helpers/together.ts";
import { type Ran, User } from "../helpers/user.ts";

function answered(ran: Ran, stdout: string): void {
  assert.deepEqual([ran.code, ran.stdout], [0, stdout], ran.stderr);
}

/** What a user gets out of one query. */
export function runSuite(launcher: Launcher): void {
  const withUser = (work: (user: User) => Promise<void>, model?: MockOptions) => async (): Promise<void> => {
    await using user = await User.make(launcher, model);
    await work(user);
  };

  launched(launcher, "vis run answers from files of the workspace", async () => {
    await using user = await User.make(launcher, {
      reply: [
        replyJson(
          'const hits = await fs.grep("TODO")\nconst total = hits.length\nconst files = [...new Set(hits.map((hit) => hit.path))].sort()',
          { thinking: "count them" },
        ),
        replyJson([], { final: "{{total}} in {{files}}" }),
      ],
    });
    await user.write("a.txt", "TODO one\nand TODO two\n");
    await user.write("b.txt", "nothing\n");
    await user.write("c.txt", "TODO\n");
    const ran = await user.run(["run", "Which files here mention TODO, and how often?"]);
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /^3 in .*a\.txt.*c\.txt.*\n$/);
    assert.match(
      ran.stderr,
      /^vis · 127\.0\.0\.1-\d+ mock-1 · conversation [0-9a-f-]{13}\n\[1\] count them\n {4}✓ searched for TODO · 3 matches \d+ ms\n/,
    );
    assert.match(ran.stderr, /\n2 steps · \d+\.\d s · \d+ in \+ \d+ out tokens · price unknown\n$/);
    assert.match(user.mock.requests[1]?.context ?? "", /<journal>[\s\S]*grep[\s\S]*<\/journal>/);
    const { queries } = await user.queries();
    assert.deepEqual(queries.map(({ status, answer }) => [status, `${answer}\n`]), [["done", ran.stdout]]);
  });

  launched(launcher, "vis run reads the request from words and stdin", async (t) => {
    const asked = (user: User): string => user.mock.requests.at(-1)?.texts[1] ?? "";
    await together(t, {
      "words": withUser(async (user) => {
        answered(await user.run(["run", "two", "words --and", "'more'"]), "Yes it is\n");
        assert.match(asked(user), /two words --and 'more'/);
        answered(await user.run(["run", "--", "--not-a-flag"]), "Yes it is\n");
        assert.match(asked(user), /--not-a-flag/);
      }, { reply: final("Yes it is") }),
      "stdin below the words": withUser(async (user) => {
        answered(await user.run(["run", "Review this"], { input: "+ żółw 🐢\n- line\n\n" }), "Yes it is\n");
        assert.match(asked(user), /Review this\n\n\+ żółw 🐢\n- line/);
      }, { reply: final("Yes it is") }),
      "stdin alone": withUser(async (user) => {
        answered(await user.run(["run"], { input: "\ufeffWhat time is it?\n" }), "Yes it is\n");
        assert.match(asked(user), /What time is it\?/);
        assert.ok(!asked(user).includes("\ufeff"));
      }, { reply: final("Yes it is") }),
      "1 MB": withUser(async (user) => {
        const input = `start ${"ż".repeat(500_000)} end`;
        answered(await user.run(["run", "How long?"], { input }), `${input.length + "How long?\n\n".length}\n`);
        assert.ok(user.mock.requests.every(({ bytes }) => bytes < 100_000));
        assert.equal((await user.queries()).queries[0]?.text.length, input.length + 11);
      }, { reply: replyJson("const size = $query.length", { final: "{{size}}" }) }),
      "too much": withUser(async (user) => {
        for (const length of [5 << 20, 17 << 20]) {
          const ran = await user.run(["run", "How long?"], { input: "x".repeat(length) });
          assert.deepEqual([ran.code, ran.stdout], [2, ""]);
          assert.match(ran.stderr, /^vis: Cannot (run a request of|read stdin)/m);
        }
        assert.equal(user.mock.requests.length, 0);
      }),
    });
  });
}
