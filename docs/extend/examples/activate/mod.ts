/** `activate`: without a Makefile, Vis omits the function, the prompt and the nudge. */
import { join } from "node:path";
import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";

async function makefile({ workspace }: EnvironmentView): Promise<string | null> {
  return await Deno.readTextFile(join(workspace, "Makefile")).catch(() => null);
}

export default defineExtension({
  namespace: "example.activate",
  alias: { ns: "vis.ext.make", alias: "make" },
  doc: "Lists the targets of the Makefile.",
  version: "1.0.0",
  activate: async (env) => await makefile(env) !== null,
  symbols: [
    fn("targets", async (env: EnvironmentView) => {
      const lines = (await makefile(env) ?? "").split("\n");
      return lines.flatMap((line) => /^([\w-]+):/.exec(line)?.[1] ?? []);
    }, { doc: "Returns the names of all targets.", args: z.tuple([]), returns: "string[]" }),
  ],
});
