import { atOnce } from "./at_once.ts";
import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";

/** Counts files and lines, by kind of file. */
export const countFiles: Policy = {
  example: "How many files and lines are there?",
  takes: /\b(?:how many|count)\b[^]*\b(?:files?|lines?)\b/i,
  decide({ context }: PolicyInput): PolicyReply {
    return atOnce(context, {
      thinking: "Count in code: paths by their ending, and all lines.",
      code: [[
        'const paths = await fs.glob("**/*")',
        "const perKind = new Map<string, number>()",
        "for (const path of paths) {",
        '  const kind = /\\.\\w+$/.exec(path)?.[0] ?? "without an ending"',
        "  perKind.set(kind, (perKind.get(kind) ?? 0) + 1)",
        "}",
        "const kinds = [...perKind].map(([kind, count]) => ({ kind, count })).sort((a, b) => b.count - a.count).slice(0, 8)",
        'const lines = await fs.count(".*")',
        "kinds",
      ].join("\n")],
      answerType: "markdown",
      final: "{{paths.length}} files with {{lines}} lines:\n{{#kinds}}\n- {{kind}}: {{count}}\n{{/kinds}}",
    });
  },
};
