import { lastValue } from "./last_value.ts";
import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";
import { stuck } from "./stuck.ts";

const REQUEST = /\bin ([\w./-]+\.\w+)\b.*\bmust be ([\d.]+) instead of ([\d.]*\d)/i;

/** Changes one number in a file, after reading the line that contains it. */
export const editFile: Policy = {
  example: "In src/discount.ts the rate must be 0.85 instead of 0.9: edit it and show the diff.",
  takes: REQUEST,
  decide({ request, context }: PolicyInput): PolicyReply {
    const [, path = "", wanted = "", old = ""] = REQUEST.exec(request) ?? [];
    if (context.journal.length === 0) {
      return {
        thinking: `Find ${old} in ${path} before changing it.`,
        code: [
          `const source = await fs.readFile(${JSON.stringify(path)})\n` +
          `source.split("\\n").filter((line) => line.includes(${JSON.stringify(old)})).join("\\n")`,
        ],
      };
    }
    const row = lastValue(context);
    if (row.code.includes("fs.edit(")) {
      if (!row.outcome.includes(wanted)) {
        throw stuck(`the journal does not show the new line: ${row.outcome.slice(0, 200)}`);
      }
      return {
        thinking: "The diff shows the change.",
        answerType: "markdown",
        final: "```diff\n{{change.diff}}\n```",
      };
    }
    const found = row.outcome;
    const place = new RegExp(`\\S+ \\S+ ${old.replace(".", "\\.")}(?!\\d)|(?<![\\d.])${old.replace(".", "\\.")}(?!\\d)`)
      .exec(found)?.[0];
    if (place === undefined) throw stuck(`the journal does not show ${old}: ${found.slice(0, 200)}`);
    const edit = JSON.stringify({ old: place, new: place.slice(0, place.length - old.length) + wanted });
    return {
      thinking: `The journal shows "${place}" in one place: replace it there.`,
      code: [`const change = await fs.edit(${JSON.stringify(path)}, ${edit})\nchange.diff`],
    };
  },
};
