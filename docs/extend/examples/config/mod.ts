/** `config`: settings of the extension, in `extensions.config["example.config"]`. */
import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";

const Config = z.strictObject({ greeting: z.string().min(1).default("Hello") });

export default defineExtension({
  namespace: "example.config",
  alias: { ns: "vis.ext.greeter", alias: "greeter" },
  doc: "Greets with a word from the settings.",
  version: "1.0.0",
  config: Config,
  symbols: [
    fn("greet", ({ config }: EnvironmentView, name: string) => `${Config.parse(config).greeting}, ${name}`, {
      doc: "Returns a greeting for a name.",
      args: z.tuple([z.string().describe("name")]),
      returns: "string",
    }),
  ],
});
