import { LABEL_LINES } from "./label_lines.ts";
import { lastValue } from "./last_value.ts";
import { needsContext } from "./needs_context.ts";
import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";

/** Counts the lines of each kind; a model must label every line. */
export const countLabels: Policy = {
  example: "How many lines of context ask for each kind of thing?",
  takes: /\bhow many lines of context\b/i,
  decide({ context }: PolicyInput): PolicyReply {
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
