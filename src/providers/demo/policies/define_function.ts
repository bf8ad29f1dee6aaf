import { centsIn, DOC } from "./cents.ts";
import { lastValue } from "./last_value.ts";
import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";
import { stuck } from "./stuck.ts";

/** Defines a function that outlives the query. */
export const defineFunction: Policy = {
  example: "Define a function that formats cents as euros, and show 123456 cents with it.",
  takes: /\bdefine a function\b.*\bcents\b/i,
  decide({ request, context }: PolicyInput): PolicyReply {
    const cents = centsIn(request);
    if (context.journal.length === 0) {
      return {
        thinking: "A function is kept for later requests. Define it and try it.",
        code: [[
          `// ${DOC}`,
          "function euros(cents: number): string {",
          "  const [whole, rest] = (Math.abs(cents) / 100).toFixed(2).split('.')",
          "  const grouped = whole.replace(/\\B(?=(\\d{3})+$)/g, ',')",
          "  return `${cents < 0 ? '-' : ''}€${grouped}.${rest}`",
          "}",
          `const shown = euros(${cents})`,
          "shown",
        ].join("\n")],
      };
    }
    const value = lastValue(context).outcome;
    if (!value.includes("€")) throw stuck(`the journal does not show an amount in euros: ${value}`);
    return { thinking: `The journal shows ${value}.`, final: `euros(${cents}) gives {{shown}}.` };
  },
};
