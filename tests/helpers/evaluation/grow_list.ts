import { moreIterations } from "./more_iterations.ts";
import { type EvalInput, type EvalPolicy, lastValue, type PolicyReply, stuck } from "./eval_policy.ts";

const REQUEST = /\bmake (\d+) texts of (\d+) bytes/i;

export const growList: EvalPolicy = {
  takes: REQUEST,
  decide({ request, context }: EvalInput): PolicyReply {
    const [, count, bytes] = REQUEST.exec(request) ?? [];
    if (context.journal.length === 0) return step(context, { next: 1, count: Number(count), bytes: Number(bytes) });
    const made = Number(lastValue(context).outcome);
    if (!Number.isInteger(made)) throw stuck("the journal does not show the length of the list");
    if (!context.variables.has("made")) throw stuck("<var_index> does not show the list");
    if (made === Number(count)) {
      return { thinking: "The list is complete.", final: "Made {{made.length}} texts." };
    }
    return step(context, { next: made + 1, count: Number(count), bytes: Number(bytes) });
  },
};

function step(
  context: EvalInput["context"],
  { next, count, bytes }: { readonly next: number; readonly count: number; readonly bytes: number },
): PolicyReply {
  const list = next === 1 ? "const made: number[] = []\n" : "";
  const text = `const text${next} = "${next} ".padEnd(${bytes}, "x")`;
  return {
    thinking: `Text ${next} of ${count}.`,
    code: [...moreIterations(context, count - next + 1), `${list}${text}\nmade.push(${next})\nmade.length`],
  };
}
