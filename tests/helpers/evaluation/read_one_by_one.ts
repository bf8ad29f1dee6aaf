import { moreIterations } from "./more_iterations.ts";
import { type EvalInput, type EvalPolicy, lastValue, type PolicyReply, stuck } from "./eval_policy.ts";

const ONE_BY_ONE = /\bread (\d+) files named (\S*#\S*?),? one per iteration/i;

export const readOneByOne: EvalPolicy = {
  takes: ONE_BY_ONE,
  decide({ request, context }: EvalInput): PolicyReply {
    const [, count, pattern = ""] = ONE_BY_ONE.exec(request) ?? [];
    const read = numbersRead(context.variables.keys());
    const newest = Math.max(0, ...read);
    if (newest !== read.length) throw stuck(`<var_index> shows ${read.length} of ${newest} files`);
    if (newest > 0) {
      const { code } = lastValue(context);
      if (!code.includes(`file${newest} `)) {
        throw stuck(`the journal does not show file${newest}: ${code.slice(0, 200)}`);
      }
    }
    if (newest === Number(count)) {
      const names = read.map((number) => `file${number}`);
      return {
        thinking: `All ${count} files are read.`,
        code: [`const characters = [${names.join(", ")}].reduce((sum, text) => sum + text.length, 0)`],
        final: `Read ${count} files with {{characters}} characters.`,
      };
    }
    const next = newest + 1;
    const path = JSON.stringify(pattern.replace("#", String(next)));
    const more = moreIterations(context, Number(count) - next + 1);
    return {
      thinking: `${newest} of ${count} files are read; file ${next} is next.`,
      code: [...more, `const file${next} = await fs.readFile(${path})\nfile${next}`],
    };
  },
};

function numbersRead(names: Iterable<string>): number[] {
  return [...names].flatMap((name) => {
    const number = /^file(\d+)$/.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  }).sort((a, b) => a - b);
}
