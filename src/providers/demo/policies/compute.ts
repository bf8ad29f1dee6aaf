import { atOnce } from "./at_once.ts";
import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";

const SUM = /\d[\d\s.]*(?:[-+*/×÷x][\s(]*\d[\d\s.)]*)+/;

/** Calculates what a pocket calculator could. */
export const compute: Policy = {
  example: "What is 12 * 34 + 5?",
  takes: SUM,
  decide({ request, context }: PolicyInput): PolicyReply {
    const sum = (SUM.exec(request)?.[0] ?? "").replace(/[×x]/g, "*").replaceAll("÷", "/").trim();
    return atOnce(context, {
      thinking: "Calculate in code.",
      code: [`const result = ${sum}\nresult`],
      final: `${sum} = {{result}}`,
    });
  },
};
