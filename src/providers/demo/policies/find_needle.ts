import { lastValue } from "./last_value.ts";
import { needsContext } from "./needs_context.ts";
import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";

/** Finds one fact in a text of any size with a pattern. */
export const findNeedle: Policy = {
  example: "Find the access code in context.",
  takes: /\bfind the access code\b/i,
  decide({ context }: PolicyInput): PolicyReply {
    needsContext(context);
    if (context.journal.length === 0) {
      return {
        thinking: "The text may be large: search it without printing it.",
        code: ["const code = /access code is (\\d+)/.exec(context)?.[1] ?? null\ncode"],
      };
    }
    const shown = lastValue(context).outcome;
    if (!/\d/.test(shown)) return { thinking: "Nothing was found.", final: "There is no access code in context." };
    return { thinking: `The journal shows ${shown}.`, final: "The access code is {{code}}." };
  },
};
