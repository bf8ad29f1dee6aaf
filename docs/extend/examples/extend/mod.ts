/** `extend`: adds one alias for each workspace folder that the settings name. */
import { defineExtension, type EnvironmentView, type Extension, fn, z } from "@vis/extension";

const Config = z.strictObject({ folders: z.array(z.string().regex(/^[a-z]+$/)).default([]) });

function folder(name: string): Extension {
  return defineExtension({
    namespace: `example.extend.${name}`,
    alias: { ns: `vis.ext.${name}`, alias: name },
    doc: `Returns the path of the folder ${name}.`,
    version: "1.0.0",
    symbols: [
      fn("place", ({ workspace }: EnvironmentView) => `${workspace}/${name}`, {
        doc: "Returns the path of the folder.",
        args: z.tuple([]),
        returns: "string",
      }),
    ],
  });
}

export default defineExtension({
  namespace: "example.extend",
  alias: { ns: "vis.ext.folders", alias: "folders" },
  doc: "Adds an alias for each folder in the settings.",
  version: "1.0.0",
  config: Config,
  extend: ({ config }: EnvironmentView) => Config.parse(config).folders.map(folder),
});
