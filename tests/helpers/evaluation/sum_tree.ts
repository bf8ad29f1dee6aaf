import { type EvalInput, type EvalPolicy, lastValue, type PolicyReply } from "./eval_policy.ts";

const REQUEST = /\bsum the numbers below ([\d.]+) to depth (\d)/i;

export const sumTree: EvalPolicy = {
  takes: REQUEST,
  decide({ request, context }: EvalInput): PolicyReply {
    const [, branch = "", depth = "0"] = REQUEST.exec(request) ?? [];
    if (context.journal.length === 0) return depth === "0" ? leaf(branch) : fanOut(branch, Number(depth) - 1);
    const shown = lastValue(context).outcome;
    return { thinking: `The journal shows ${shown}.`, final: "{{total}}" };
  },
};

function leaf(branch: string): PolicyReply {
  return {
    thinking: "A leaf: ask for its number.",
    code: [`const total = Number(await rlm.ask("Which number has ${branch}? Digits only."))\ntotal`],
  };
}

function fanOut(branch: string, depth: number): PolicyReply {
  return {
    thinking: "Four parts, each a query of its own.",
    code: [[
      `const parts = await rlm.runAll([1, 2, 3, 4].map((n) => \`Sum the numbers below ${branch}.\${n} to depth ${depth}\`))`,
      'const total = parts.reduce((sum, one) => sum + (typeof one === "string" ? Number(one) : 0), 0)',
      "total",
    ].join("\n")],
  };
}
