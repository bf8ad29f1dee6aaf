import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { replyJson } from "../helpers/scripted_provider.ts";
import type { Launcher } from "./_launcher.ts";
import { launched } from "./_together.ts";
import { User } from "./_user.ts";

const example = (name: string): string => fileURLToPath(new URL(`../../extensions/examples/${name}`, import.meta.url));

/** What extensions from folders give the sandbox and keep, over two runs of the program. */
export function modulesSuite(launcher: Launcher): void {
  launched(launcher, "vis run --extension: modules in the sandbox, states and bound variables that last", async () => {
    await using user = await User.make(launcher, {
      reply: [
        replyJson([
          "const people = [{ age: 3 }, { age: 6 }];",
          "await table.column('people', 'age', 'ages'); await todo.add(`mean ${stats.mean(ages)}`)",
          "await answer(new Money(5).plus(new Money(7)).cents)",
        ]),
        replyJson("const [first] = await todo.open(); await answer(`${first.id} ${stats.median(ages)}`)"),
      ],
    });
    const flags = ["store", "modules", "variables"].flatMap((name) => ["--extension", example(name)]);
    const first = await user.run(["run", "Count", "-q", ...flags]);
    assert.deepEqual([first.code, first.stdout], [0, "12\n"], first.stderr);
    const second = await user.run(["run", "-c", "Go on", "-q", ...flags]);
    assert.deepEqual([second.code, second.stdout], [0, "0001 4.5\n"], second.stderr);
  });
}
