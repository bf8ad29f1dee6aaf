import { type EnvironmentView, type Extension, fn, z } from "../../src/extension/mod.ts";

/** An extension whose `asking.open(scope, what, why, lasting)` requests the user's approval and returns the answer. */
export const ASKING: Extension = {
  namespace: "test.asking",
  alias: { ns: "test.ext.asking", alias: "asking" },
  doc: "Asks.",
  version: "0.1.0",
  symbols: [
    fn("open", async (
      { approve }: EnvironmentView,
      scope = "doors",
      what = `open ${scope}`,
      ...[why = "It is locked.", lasting]: readonly [why?: string, lasting?: boolean]
    ) => {
      return await approve?.({ what, why, scope, lasting }) ?? "not here";
    }, {
      doc: "Asks.",
      untimed: true,
      args: z.tuple([z.string().optional(), z.string().optional(), z.string().optional(), z.boolean().optional()]),
      returns: "unknown",
    }),
  ],
};
