import { LABEL_LINES } from "./label_lines.ts";
import { lastValue } from "./last_value.ts";
import { needsContext } from "./needs_context.ts";
import { stuck } from "./stuck.ts";
import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";

/** Answers with more than any preview shows: the answer is a value that is never written out. */
export const pairUsers: Policy = {
  example: "List all pairs of users in context who both asked for a place.",
  takes: /\ball pairs of users\b/i,
  decide({ context }: PolicyInput): PolicyReply {
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
