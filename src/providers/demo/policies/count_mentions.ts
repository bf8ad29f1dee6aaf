import { lastValue } from "./last_value.ts";
import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";
import { stuck } from "./stuck.ts";

/** Finds and counts a word in all files, in one block. */
export const countMentions: Policy = {
  example: "Which files here mention TODO, and how often?",
  takes: /mentions?\s+["'`]?[\w-]+/i,
  decide({ request, context }: PolicyInput): PolicyReply {
    const word = /mentions?\s+["'`]?([\w-]+)/i.exec(request)?.[1] ?? "TODO";
    if (context.journal.length === 0) return search(word);
    const shown = lastValue(context).outcome;
    if (shown === "[]") return { thinking: "The journal shows an empty list.", final: `No file mentions ${word}.` };
    const counted = filesIn(shown);
    if (counted === 0) throw stuck(`the journal does not show the files: ${shown.slice(0, 200)}`);
    const row = context.variables.get("mentions");
    if (row === undefined) throw stuck("<var_index> does not show the variable mentions");
    const kept = filesIn(row.shown);
    if (kept !== 0 && kept !== counted) throw stuck(`the journal shows ${counted} files, <var_index> ${row.shown}`);
    const times = context.variables.get("total")?.shown === "1" ? "time" : "times";
    return {
      thinking: `The journal shows ${counted} file${
        counted === 1 ? "" : "s"
      }, and the variable mentions has them. Answer from the variables.`,
      answerType: "markdown",
      final: `${word} is mentioned {{total}} ${times} in {{mentions.length}} file${counted === 1 ? "" : "s"}:\n` +
        "{{#mentions}}\n- {{path}}: {{count}}\n{{/mentions}}",
    };
  },
};

/** The number of files that a preview or a shape shows; 0 if it shows none. */
function filesIn(text: string): number {
  const labelled = /^Array\((\d+)\)/.exec(text)?.[1];
  return labelled === undefined ? (text.match(/\bpath["']?:/g) ?? []).length : Number(labelled);
}

function search(word: string): PolicyReply {
  return {
    thinking: `One search over all files gives every line with ${word}; count them per file in code.`,
    code: [[
      `const lines = await fs.grep(${JSON.stringify(word)}, { literal: true, limit: 100000 })`,
      "const perFile = new Map<string, number>()",
      `for (const line of lines) perFile.set(line.path, (perFile.get(line.path) ?? 0) + line.text.split(${
        JSON.stringify(word)
      }).length - 1)`,
      `// Files that mention ${word}, most mentions first`,
      "const mentions = [...perFile].map(([path, count]) => ({ path, count })).sort((a, b) => b.count - a.count)",
      "const total = mentions.reduce((sum, { count }) => sum + count, 0)",
      "mentions",
    ].join("\n")],
  };
}
