import assert from "node:assert/strict";
import { replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { launched } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

export function runSuite(launcher: Launcher): void {
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
      /^vis · 127\.0\.0\.1-\d+ mock-1 · conversation [0-9a-f-]{13}\n\[1\] count them\n {4}✓ searched for TODO · 3 matches \d+(?:\.\d)? m?s\n/,
    );
    assert.match(ran.stderr, /\n2 steps · \d+\.\d s · \d+ in \+ \d+ out tokens · price unknown\n$/);
    assert.match(user.mock.requests[1]?.context ?? "", /<journal>[\s\S]*grep[\s\S]*<\/journal>/);
    const { queries } = await user.queries();
    assert.deepEqual(queries.map(({ status, answer }) => [status, `${answer}\n`]), [["done", ran.stdout]]);
  });
}
