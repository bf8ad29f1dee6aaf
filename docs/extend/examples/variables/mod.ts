/** `readVar`, `bindVar`: read a variable by name, and store the result in another variable. */
import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";

const Rows = z.array(z.record(z.string(), z.unknown()), "must be a list of objects");

export default defineExtension({
  namespace: "example.variables",
  alias: { ns: "vis.ext.table", alias: "table" },
  doc: "Reads columns of tables.",
  version: "1.0.0",
  symbols: [
    fn("column", async (env: EnvironmentView, from: string, column: string, to: string) => {
      const rows = Rows.parse(await env.readVar?.(from, { maxBytes: 8 << 20 }));
      await env.bindVar?.(to, rows.map((row) => row[column] ?? null));
      return { name: to, rows: rows.length };
    }, {
      doc: "Stores a column of a table in a variable. Tables are lists of objects.",
      args: z.tuple([z.string().describe("from"), z.string().describe("column"), z.string().describe("to")]),
      returns: "{name, rows}",
      examples: ['await table.column("people", "age", "ages"); ages.length'],
    }),
  ],
});
