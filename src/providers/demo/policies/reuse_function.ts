import { centsIn, DOC } from "./cents.ts";
import { lastValue } from "./last_value.ts";
import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";
import { stuck } from "./stuck.ts";

/** Uses in a later query, possibly in another process, what an earlier one defined. */
export const reuseFunction: Policy = {
  example: "Use the function from before: what is 98765 cents in euros?",
  takes: /\bfunction from before\b.*\bcents\b/i,
  decide({ request, context }: PolicyInput): PolicyReply {
    const cents = centsIn(request);
    if (context.journal.length > 0) {
      const value = lastValue(context).outcome;
      return { thinking: `The journal shows ${value}.`, final: `${cents} cents are {{later}}.` };
    }
    const kept = [...context.variables.values()].find((row) => row.declaration === "function" && row.doc === DOC);
    if (kept === undefined) throw stuck(`<var_index> shows no function with the comment "${DOC}"`);
    if (!/\bcents\b/.test(context.handover)) throw stuck("<handover> does not tell what was asked before");
    return {
      thinking: `The handover mentions the function, and the index still lists ${kept.name}.`,
      code: [`const later = ${kept.name}(${cents})\nlater`],
    };
  },
};
