import { LABEL_LINES } from "./label_lines.ts";
import { type EvalInput, type EvalPolicy, lastValue, needsContext, type PolicyReply, stuck } from "./eval_policy.ts";

export const pairUsers: EvalPolicy = {
  takes: /\ball pairs of users\b/i,
  decide({ context }: EvalInput): PolicyReply {
    needsContext(context);
    if (context.journal.length === 0) {
      return {
        thinking: "A model labels the lines; the pairs follow in code.",
        code: [[
          LABEL_LINES,
          'const users = [...new Set(lines.filter((_, at) => labels[at] === "place").map((line) => Number(/^user (\\d+)/.exec(line)[1])))].sort((a, b) => a - b)',
          "const pairs = users.flatMap((a, at) => users.slice(at + 1).map((b) => `(${a}, ${b})`))",
          "pairs.length",
        ].join("\n")],
      };
    }
    const count = Number(lastValue(context).outcome);
    if (!Number.isInteger(count)) throw stuck("the journal does not show the number of pairs");
    return {
      thinking: `${count} pairs: too many to write down.`,
      code: ['await answer(pairs.join("\\n"), { type: "text" })'],
    };
  },
};
