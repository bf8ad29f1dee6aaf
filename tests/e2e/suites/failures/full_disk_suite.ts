import assert from "node:assert/strict";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import type { Launcher } from "../../_launcher.ts";
import { launched } from "../../helpers/together.ts";
import { User } from "../../helpers/user.ts";

/** Returns a million characters that cannot be compressed, different in each step. */
const large = (step: number): string =>
  `const text${step} = ((seed) => Array.from({ length: 1_000_000 }, () => {
    seed = seed * 48271 % 2147483647
    return String.fromCharCode(33 + (seed >> 8) % 90)
  }).join(""))(${step})`;

/** The limit on the size of a file stops the database as a full disk does. */
const LIMITED = `ulimit -f 6000; exec "$@"`;

export function fullDiskSuite(launcher: Launcher): void {
  launched(launcher, "vis run on a disk that gets full says so, and loses nothing that it had stored", async () => {
    let asked = 0, full = true;
    await using user = await User.make(launcher, {
      handler: () =>
        full
          ? replyJson(large(++asked))
          : replyJson("const kept = [typeof text1, typeof text9].join()", { final: "{{kept}}" }),
    });
    const ran = await user.run(["run", "--max-iterations", "9", "fill it"], { shell: LIMITED });
    assert.deepEqual([ran.code, ran.stdout], [3, ""], ran.stderr);
    assert.match(ran.stderr, /^vis: Cannot use database .*: a file would exceed the limit on its size/m);
    assert.ok(asked > 1 && asked < 9, `${asked} iterations`);
    full = false;

    const check = await user.run(["db", "check"]);
    assert.equal(check.code, 0, check.stdout);
    const before = await user.queries();
    const stored = await user.look((store) => store.iterations(before.queries[0]?.queryId ?? ""));
    const done = stored.filter(({ status }) => status === "done").length;
    assert.ok(done >= 1 && done < asked);
    const next = await user.run(["run", "-c", "--max-iterations", "9", "what is left?"]);
    assert.deepEqual([next.code, next.stdout], [0, "string,undefined\n"], next.stderr);
    const versions = await user.look((store) => store.variables(before.branch.branchId));
    const texts = versions.filter(({ name }) => name.startsWith("text"));
    assert.equal(texts.length, done, "a value for each iteration that was stored");
  });
}
