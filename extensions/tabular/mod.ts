import { defineExtension } from "@vis/extension";

export default defineExtension({
  namespace: "vis.tabular",
  alias: { ns: "vis.ext.tabular", alias: "tabular" },
  doc:
    "CSV, Markdown tables and number formats, inside the sandbox. parse(csv, {separator?, header?}) gives rows by column, with header: false lists; number(1234.5, 2) is 1,234.50.",
  group: "data",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  readOnly: true,
  prompt:
    "Without await: tables.parse(csv), tables.csv(rows), tables.markdown(rows, columns?), tables.number(n, digits?)",
  modules: { tables: "./table.ts" },
});
