/** Plays the blocks of _blocks.ts through the whole engine, then an ordinary one, and prints the result of each as one
 * line of JSON. Run it with the heap of the executable. */
import fs from "../../../extensions/fs/mod.ts";
import shell from "../../../extensions/shell/mod.ts";
import { startEngine } from "../../helpers/engine.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { missing, place } from "../../processes/_place.ts";
import { HOSTILE_BLOCKS } from "./_blocks.ts";

async function play(workspace: string, spawn: Parameters<typeof startEngine>[1] = {}): Promise<void> {
  await Deno.writeTextFile(`${workspace}/big.txt`, "0123456789abcde\n".repeat(65_000));
  const chosen = HOSTILE_BLOCKS.filter(([name]) => Deno.args.length === 0 || Deno.args.includes(name));
  for (const [name, code] of chosen) {
    await using engine = await startEngine([
      JSON.stringify({ thinking: "", code: [{ expr: code, timeMs: 120_000 }] }),
      replyJson(['String((await fs.stat("big.txt")).size)']),
      replyJson([], { final: "The file has 1040000 bytes" }),
    ], { workspace, extensions: [fs, shell], newChildren: true, ...spawn });
    const begun = performance.now();
    const { status } = await engine.ask("Go");
    const after = engine.context(2).includes("1040000");
    const said = engine.context(1).slice(-600);
    console.log(JSON.stringify({ name, status, after, ms: Math.round(performance.now() - begun), said }));
  }
}

if (missing === "") {
  await place(({ wall, workspace }) =>
    play(workspace, { spawn: (folder, argv, options) => wall.spawn(folder, argv, options) })
  );
} else await play(await Deno.makeTempDir());
