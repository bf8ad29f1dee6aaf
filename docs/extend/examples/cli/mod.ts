/** `cli`: adds a command to vis. After `vis extensions add FOLDER`, try `vis shout hello --times 2`. */
import { defineExtension, z } from "@vis/extension";

const Arguments = z.object({ text: z.string(), times: z.number().int().min(1).max(10).default(1) });

export default defineExtension({
  namespace: "example.cli",
  alias: { ns: "vis.ext.shout", alias: "shout" },
  doc: "Adds the command vis shout.",
  version: "1.0.0",
  cli: [{
    name: "shout",
    doc: "Prints a text in capital letters.",
    args: Arguments,
    run: ({ text, times }: z.infer<typeof Arguments>, { print }) => {
      for (let at = 0; at < times; at++) print(`${text.toUpperCase()}!\n`);
    },
  }],
});
