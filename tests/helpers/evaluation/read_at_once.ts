import { type EvalInput, type EvalPolicy, lastValue, type PolicyReply, stuck } from "./eval_policy.ts";

const AT_ONCE = /\bread (\d+) files named (\S*#\S*?),? all in one block/i;

export const readAtOnce: EvalPolicy = {
  takes: AT_ONCE,
  decide({ request, context }: EvalInput): PolicyReply {
    const [, count, pattern = ""] = AT_ONCE.exec(request) ?? [];
    if (context.journal.length === 0) {
      const path = JSON.stringify(pattern);
      return {
        thinking: "The files do not depend on each other: read them all in one block.",
        code: [[
          `const paths = Array.from({ length: ${count} }, (_, at) => ${path}.replace("#", String(at + 1)))`,
          "const texts = await Promise.all(paths.map((path) => fs.readFile(path)))",
          "const characters = texts.reduce((sum, text) => sum + text.length, 0)",
          "characters",
        ].join("\n")],
      };
    }
    if (!/^\d+$/.test(lastValue(context).outcome)) throw stuck("the journal does not show the number of characters");
    return { thinking: "The journal shows the sum.", final: `Read ${count} files with {{characters}} characters.` };
  },
};
