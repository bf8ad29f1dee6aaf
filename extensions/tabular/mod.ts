import { defineExtension } from "@vis/extension";

export default defineExtension({
  namespace: "vis.tabular",
  alias: { ns: "vis.ext.tabular", alias: "tabular" },
  doc: "CSV, Markdown tables and number formats, inside the sandbox.",
  group: "data",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  readOnly: true,
  prompt:
    "Without await: tables.parse(csv, {separator?, header?}): rows by column (header: false for lists), tables.csv(rows), tables.markdown(rows, columns?), tables.number(n, digits?): 1,234.50",
  modules: { tables: "./table.ts" },
});
