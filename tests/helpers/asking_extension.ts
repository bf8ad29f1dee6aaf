import { type EnvironmentView, type Extension, fn, z } from "../../src/extension/mod.ts";

const text = z.string().optional();

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
      ...[why = "It is locked.", lasting, change]: readonly [why?: string, lasting?: boolean, change?: string]
    ) => {
      return await approve?.({ what, why, scope, lasting, change }) ?? "not here";
    }, {
      doc: "Asks.",
      untimed: true,
      args: z.tuple([text, text, text, z.boolean().optional(), text]),
      returns: "unknown",
    }),
  ],
};
