import { atOnce } from "./at_once.ts";
import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";

/** Lists the files of the workspace. */
export const listFolder: Policy = {
  example: "List the files in this folder.",
  takes:
    /\b(?:list|show|which|what)\b[^]*\bfiles?\b|\bwhat(?:'s| is) (?:in )?(?:this|the) (?:folder|directory)\b|^\s*ls\s*$/i,
  decide({ context }: PolicyInput): PolicyReply {
    return atOnce(context, {
      thinking: "One call gives the paths; show the first 30.",
      code: [[
        'const files = await fs.glob("**/*")',
        "const first = files.slice(0, 30).map((path) => ({ path }))",
        "const more = files.length > first.length ? `and ${files.length - first.length} more` : ''",
        "const count = files.length === 1 ? '1 file' : `${files.length} files`",
        "files.length",
      ].join("\n")],
      answerType: "markdown",
      final: "{{count}}:\n{{#first}}\n- {{path}}\n{{/first}}\n\n{{more}}",
    });
  },
};
