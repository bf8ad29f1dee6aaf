import { z } from "zod";
import { queryOutputs } from "./query_outputs.ts";
import { setupOutputs } from "./setup_outputs.ts";
import { storedOutputs } from "./stored_outputs.ts";

/** Output of commands with `--output json`, as JSON Schema by command; "run jsonl" is a line of `--output jsonl`.
 * Fields may be added; none is removed or changes its meaning. */
export function outputSchemas(): Readonly<Record<string, object>> {
  const all = { ...queryOutputs, ...storedOutputs, ...setupOutputs };
  return Object.fromEntries(
    Object.entries(all).map(([name, schema]) => {
      const { $schema: _ofTheWhole, ...own } = z.toJSONSchema(schema, { io: "input", reused: "inline" });
      return [name, own];
    }),
  );
}
