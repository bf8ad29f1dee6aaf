import { defineExtension } from "@vis/extension";

export default defineExtension({
  namespace: "vis.table",
  alias: { ns: "vis.ext.tables", alias: "tables" },
  doc: "CSV, Markdown tables and number formats, inside the sandbox.",
  group: "data",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  readOnly: true,
  prompt:
    "Without await: table.parse(csv, {separator?, header?}): rows by column (header: false for lists), table.csv(rows), table.markdown(rows, columns?), table.number(n, digits?): 1,234.50",
  modules: { table: "./table.ts" },
});
