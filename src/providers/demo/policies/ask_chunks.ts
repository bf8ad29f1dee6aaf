import { lastValue } from "./last_value.ts";
import { needsContext } from "./needs_context.ts";
import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";

/** Finds what no pattern matches: a model reads every piece of the text. */
export const askChunks: Policy = {
  example: "Which colour is hinted at in context?",
  takes: /\bcolour is hinted at\b/i,
  decide({ context }: PolicyInput): PolicyReply {
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
