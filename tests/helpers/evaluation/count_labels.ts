import { LABEL_LINES } from "./label_lines.ts";
import { lastValue } from "../../../src/providers/demo/policies/last_value.ts";
import { needsContext } from "../../../src/providers/demo/policies/needs_context.ts";
import type { EvalInput, EvalPolicy } from "./eval_policy.ts";
import type { PolicyReply } from "../../../src/providers/demo/policies/policy.ts";

/** Counts the lines of each kind; a model must label every line. */
export const countLabels: EvalPolicy = {
  takes: /\bhow many lines of context\b/i,
  decide({ context }: EvalInput): PolicyReply {
    needsContext(context);
    if (context.journal.length === 0) {
      return {
        thinking: "A model labels the lines, code counts.",
        code: [[
          LABEL_LINES,
          "const kinds = [...Map.groupBy(labels, (label) => label)].map(([kind, all]) => ({ kind, count: all.length })).sort((a, b) => a.kind < b.kind ? -1 : 1)",
          "kinds",
        ].join("\n")],
      };
    }
    const shown = lastValue(context).outcome;
    return { thinking: `Counted: ${shown.slice(0, 200)}.`, final: "{{#kinds}}{{kind}}: {{count}}\n{{/kinds}}" };
  },
};
