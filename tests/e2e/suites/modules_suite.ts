import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { launched } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const example = (name: string): string =>
  fileURLToPath(new URL(`../../../docs/extend/examples/${name}`, import.meta.url));

const TELLS = `import { defineExtension, fn, z } from "@vis/extension";
const tell = () => ({
  names: Object.keys(z).sort(),
  locales: Object.keys(z.locales).sort(),
  said: z.locales.de().localeError({ code: "invalid_type", expected: "string", input: 1 }),
});
export default defineExtension({
  namespace: "test.given", alias: { ns: "vis.ext.given", alias: "given" }, doc: "Given.", version: "1.0.0",
  symbols: [fn("tell", tell, { doc: "Tells.", args: z.tuple([]), returns: "object" })],
});`;
const MANIFEST = { namespace: "test.given", version: "1.0.0", entry: "mod.ts", requires: [], allow: {} };

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

  launched(launcher, "vis run --extension: an extension of a folder has all of zod, languages included", async () => {
    await using user = await User.make(launcher, {
      reply: [replyJson("await answer(JSON.stringify(await given.tell()))")],
    });
    const folder = user.path("given");
    await Deno.mkdir(folder);
    await Deno.writeTextFile(join(folder, "vis.json"), JSON.stringify({ extensions: [MANIFEST] }));
    await Deno.writeTextFile(join(folder, "mod.ts"), TELLS);
    const { code, stdout, stderr } = await user.run(["run", "What is there?", "-q", "--extension", folder]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), {
      names: Object.keys(z).sort(),
      locales: Object.keys(z.locales).sort(),
      said: z.locales.de().localeError({ code: "invalid_type", expected: "string", input: 1 }),
    });
  });
}
