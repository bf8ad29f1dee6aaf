/** Hooks: `before` fixes arguments, `after` shapes the result, `onError` provides a fallback. */
import { defineExtension, fn, z } from "@vis/extension";

const STOCK: Readonly<Record<string, number>> = { apple: 3, pear: 0 };

export default defineExtension({
  namespace: "example.hooks",
  alias: { ns: "vis.ext.stock", alias: "stock" },
  doc: "Counts goods in stock.",
  version: "1.0.0",
  symbols: [
    fn("count", (_env, name: string) => {
      const found = STOCK[name];
      if (found === undefined) throw new Error(`Cannot count ${name}: it is not sold here`);
      return found;
    }, {
      doc: "Returns the number of pieces in stock.",
      args: z.tuple([z.string().describe("name")]),
      returns: "{name: string, count: number}",
      before: ({ args }) => ({ args: args.map((one) => typeof one === "string" ? one.trim().toLowerCase() : one) }),
      after: ({ args: [name], result }) => ({ result: { name, count: result } }),
      onError: ({ args: [name] }) =>
        typeof name === "string" && name.endsWith("s") ? { args: [name.slice(0, -1)] } : {},
    }),
  ],
});
