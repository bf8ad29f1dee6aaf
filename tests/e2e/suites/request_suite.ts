import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { launched, together } from "../helpers/together.ts";
import { answered, type User, usersOf } from "../helpers/user.ts";

export function requestSuite(launcher: Launcher): void {
  const withUser = usersOf(launcher);

  launched(launcher, "vis run reads the request from words and stdin", async (t) => {
    const asked = (user: User): string => user.mock.requests.at(-1)?.texts[1] ?? "";
    await together(t, {
      "words": withUser(async (user) => {
        answered(await user.run(["run", "two", "words --and", "'more'"]), "Yes it is\n");
        assert.match(asked(user), /two words --and 'more'/);
        answered(await user.run(["run", "--", "--not-a-flag"]), "Yes it is\n");
        assert.match(asked(user), /--not-a-flag/);
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
          assert.match(ran.stderr, /^vis: Cannot (?:run the request: it has 5242891 characters|read stdin)/m);
        }
        assert.equal(user.mock.requests.length, 0);
      }),
    });
  });
}
