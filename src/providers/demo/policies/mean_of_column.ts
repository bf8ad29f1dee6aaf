import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";
import { stuck } from "./stuck.ts";

/** Computes a mean, with a mistake in its first attempt that it must find in the journal and fix. */
export const meanOfColumn: Policy = {
  example: "What is the mean of the amounts in data/sales.csv?",
  takes: /\bmean\b.*\.csv\b/i,
  decide({ request, context }: PolicyInput): PolicyReply {
    const path = /[\w./-]+\.csv\b/.exec(request)?.[0] ?? "";
    const column = /mean of the (\w+?)s?\b/i.exec(request)?.[1] ?? "amount";
    if (context.journal.length === 0) return attempt(path, column);
    const failed = context.journal.find((row) => row.failed);
    if (failed === undefined) throw stuck("the journal does not show the error of the first attempt");
    const property = /Cannot read properties of undefined \(reading '(\w+)'\)/.exec(failed.outcome)?.[1];
    if (property !== "trim") throw stuck(`the journal shows another error: ${failed.outcome.slice(0, 200)}`);
    for (const name of ["header", "rows"]) {
      if (!context.variables.has(name)) throw stuck(`<var_index> lost ${name}, which the first block defined`);
    }
    return {
      thinking: `Block ${failed.number} failed: a row is a list, so row.${column} is undefined. ` +
        "rows and header are still there; take the column by its number.",
      code: [[
        `const column = header.indexOf(${JSON.stringify(column)})`,
        "const amounts = rows.map((row) => Number(row[column].trim()))",
        `// Mean of the column ${column}`,
        "const mean = amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length",
        "mean",
      ].join("\n")],
      final: `The mean of the {{amounts.length}} ${column}s is {{mean}}.`,
    };
  },
};

function attempt(path: string, column: string): PolicyReply {
  return {
    thinking: `Read ${path}, split it into rows, then take the mean of ${column}.`,
    code: [
      [
        `const [header, ...rows] = (await fs.readFile(${JSON.stringify(path)})).trim().split("\\n")`,
        '  .map((line) => line.split(","))',
        "rows.length",
      ].join("\n"),
      [
        `const amounts = rows.map((row) => Number(row.${column}.trim()))`,
        "const mean = amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length",
        "mean",
      ].join("\n"),
    ],
  };
}
