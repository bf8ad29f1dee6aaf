/** A pack: adds other extensions to an open conversation on request, starting with its next query. `vis run` closes the
 * conversation after each request, so try this example in interactive mode. */
import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";

const alarm = defineExtension({
  namespace: "example.pack.alarm",
  alias: { ns: "vis.ext.alarm", alias: "alarm" },
  doc: "Rings an alarm.",
  version: "1.0.0",
  symbols: [fn("ring", () => "ring", { doc: "Returns the sound of the alarm.", args: z.tuple([]), returns: "string" })],
});

export default defineExtension({
  namespace: "example.pack",
  alias: { ns: "vis.ext.pack", alias: "pack" },
  doc: "Adds other extensions to the conversation.",
  version: "1.0.0",
  symbols: [
    fn("open", async ({ register, load }: EnvironmentView, refs: string[]) => {
      register?.(alarm);
      const names = [];
      for (const ref of refs) names.push((await load?.(ref))?.namespace);
      return [alarm.namespace, ...names];
    }, {
      doc: "Adds the alarm, and extensions by namespace or folder. Returns their namespaces.",
      args: z.tuple([z.array(z.string()).describe("refs")]),
      returns: "string[]",
    }),
  ],
});
