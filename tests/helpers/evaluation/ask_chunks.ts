import { type EvalInput, type EvalPolicy, lastValue, needsContext, type PolicyReply } from "./eval_policy.ts";

export const askChunks: EvalPolicy = {
  takes: /\bcolour is hinted at\b/i,
  decide({ context }: EvalInput): PolicyReply {
    needsContext(context);
    if (context.journal.length === 0) {
      return {
        thinking: "The colour is not named, so code cannot find it. Ask of every piece, with some overlap.",
        code: [[
          'const seen = await rlm.mapChunks(context, "Which colour is hinted at here? One word, or NONE.", { size: 20000, overlap: 200 })',
          'const failed = seen.filter((one) => typeof one !== "string").length',
          'const colour = seen.find((one) => typeof one === "string" && one !== "NONE") ?? "none"',
          "const found = { pieces: seen.length, failed, colour }",
          "found",
        ].join("\n")],
      };
    }
    const shown = lastValue(context).outcome;
    return { thinking: `The journal shows ${shown}.`, final: "It is {{found.colour}} ({{found.pieces}} pieces)." };
  },
};
