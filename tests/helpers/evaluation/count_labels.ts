import { LABEL_LINES } from "./label_lines.ts";
import { type EvalInput, type EvalPolicy, lastValue, needsContext, type PolicyReply } from "./eval_policy.ts";

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
