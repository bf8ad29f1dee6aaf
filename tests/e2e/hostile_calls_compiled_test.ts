import assert from "node:assert/strict";
import { final } from "../helpers/scripted_provider.ts";
import { compiledLauncher } from "./_launcher.ts";
import { launched } from "./helpers/together.ts";
import { User } from "./helpers/user.ts";

/** These namespaces have functions of the main process. */
const SPACES = ["fs", "git", "history", "mcp", "memo", "rlm", "shell", "skills", "web", "debug"];
const RUNS = 12;

/** Returns a block that calls every function of a namespace with arguments of hostile sizes and shapes, the same in
 * every run. */
const block = (space: string): string => `
  let seed = 7;
  const pick = (list) => list[(seed = (seed * 1103515245 + 12345) % 2147483648) % list.length];
  const deep = (n) => { let value = 1; for (let i = 0; i < n; i++) value = i % 2 ? {value} : [value]; return value; };
  const hostile = () => pick([
    () => Array(pick([0, 1, 1000, 40000])).fill(pick([1, "", "a*", null, [], {path: "a.txt", old: "a", new: "b"}, {old: "a"}])),
    () => Object.fromEntries(Array.from({length: pick([1, 1000, 40000])}, (_, i) => ["k" + i, i])),
    () => pick(["a", "\\n", "{", "[", "é", "*", "../", "a/", "(a|b)*", "\\0"]).repeat(pick([1, 300, 20000])),
    () => pick([NaN, -1, 2 ** 53, 1e308, new Date(NaN), new Map([[1, 2]]), new Uint8Array(65536)]),
    () => deep(pick([10, 500])),
  ])();
  const space = globalThis[${JSON.stringify(space)}] ?? {};
  const names = Object.keys(space).filter((name) => typeof space[name] === "function");
  let ended = 0, long = 0;
  for (const name of names) for (let run = 0; run < ${RUNS}; run++) {
    const args = Array.from({length: pick([0, 1, 2, 3])}, hostile);
    const text = await (async () => space[name](...args))().then(() => "", (error) => String(error.message));
    ended++;
    if (text.length > 50000) long++;
  }
  \`\${ended} of \${names.length * ${RUNS}}, \${long} long, \${names.length} names\``;

const launcher = await compiledLauncher();

launched(launcher, "every function of every shipped extension outlives hostile sizes and shapes", async (t) => {
  for (const space of SPACES) {
    await t.step(space, async () => {
      let shown = "";
      await using user = await User.make(launcher, {
        handler: ({ context, texts }) => {
          const found = /\d+ of \d+, \d+ long, \d+ names/.exec(context)?.[0];
          if (found) {
            shown = found;
            return final("At last");
          }
          return texts.join("\n").includes("play it")
            ? JSON.stringify({ code: [{ expr: block(space), timeMs: 300_000 }] })
            : final("nothing");
        },
      });
      await user.write("a.txt", "a\n".repeat(1_000));
      await Deno.mkdir(user.path("vis/skills/one"), { recursive: true });
      await Deno.writeTextFile(user.path("vis/skills/one/SKILL.md"), "---\nname: one\ndescription: One\n---\n\nx\n");
      const servers = { gone: { url: "http://127.0.0.1:1/mcp" } };
      await Deno.writeTextFile(
        user.path("vis/config.jsonc"),
        JSON.stringify({ extensions: { config: { "vis.mcp": { servers } } } }),
      );
      await new Deno.Command("git", { args: ["init", "-q", user.workspace] }).output();
      const { code, stdout, stderr } = await user.run(["run", "play it"]);
      assert.deepEqual([code, stdout], [0, "At last\n"], `${shown}\n${stderr}`);
      const [, ended, all, long, count] = /(\d+) of (\d+), (\d+) long, (\d+)/.exec(shown) ?? [];
      assert.deepEqual([ended, long], [all, "0"]);
      assert.ok(Number(count) > 0, `${space} has no functions`);
    });
  }
});
