import type { Provider } from "./provider.ts";
import { playedProvider } from "./replay.ts";

interface DemoReply {
  readonly thinking: string;
  readonly code?: readonly string[];
  readonly final?: string;
  readonly afterFailure?: boolean;
}

interface Scene {
  /** A request that works in each folder, or "". */
  readonly example: string;
  readonly takes: RegExp;
  replies(request: string): readonly DemoReply[];
}

const SUM = /\d[\d\s.]*(?:[-+*/×÷x][\s(]*\d[\d\s.)]*)+/;
const FILE = /(?:^|[\s"'`])((?:[\w.-]+\/)*[\w-]+\.\w+)\b/;
const EDIT = /\bin ([\w./-]+\.\w+)\b.*\bmust be ([\d.]+) instead of ([\d.]*\d)/i;

const SCENES: readonly Scene[] = [
  {
    example: "",
    takes: /\bmean\b.*\.csv\b/i,
    replies(request) {
      const path = /[\w./-]+\.csv\b/.exec(request)?.[0] ?? "";
      const column = /mean of the (\w+?)s?\b/i.exec(request)?.[1] ?? "amount";
      return [{
        thinking: `Read ${path}, split it into rows, then take the mean of ${column}.`,
        code: [
          `const [header, ...rows] = (await fs.readFile(${JSON.stringify(path)})).trim().split("\\n")
  .map((line) => line.split(","))
rows.length`,
          `const amounts = rows.map((row) => Number(row.${column}.trim()))
const mean = amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length
mean`,
        ],
      }, {
        thinking: `The second block failed: a row is a list, so row.${column} is undefined. ` +
          "rows and header are still there; take the column by its number.",
        code: [`const column = header.indexOf(${JSON.stringify(column)})
const amounts = rows.map((row) => Number(row[column].trim()))
// Mean of the column ${column}
const mean = amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length
mean`],
        final: `The mean of the {{amounts.length}} ${column}s is {{mean}}.`,
        afterFailure: true,
      }];
    },
  },
  {
    example: "Define a function that formats cents as euros, and show 123456 cents with it.",
    takes: /\bdefine a function\b.*\bcents\b/i,
    replies(request) {
      const cents = centsIn(request);
      return [{
        thinking: "A function is kept for later requests. Define it and try it.",
        code: [`// Formats cents as euros
function euros(cents: number): string {
  const [whole, rest] = (Math.abs(cents) / 100).toFixed(2).split('.')
  const grouped = whole.replace(/\\B(?=(\\d{3})+$)/g, ',')
  return \`\${cents < 0 ? '-' : ''}€\${grouped}.\${rest}\`
}
const shown = euros(${cents})
shown`],
      }, { thinking: "The function works.", final: `euros(${cents}) gives {{shown}}.` }];
    },
  },
  {
    example: "",
    takes: /\bfunction from before\b.*\bcents\b/i,
    replies(request) {
      const cents = centsIn(request);
      return [
        {
          thinking: "The function euros is a variable like any other.",
          code: [`const later = euros(${cents})\nlater`],
        },
        { thinking: "The function still works.", final: `${cents} cents are {{later}}.` },
      ];
    },
  },
  {
    example: "",
    takes: EDIT,
    replies(request) {
      const [, path = "", wanted = "", old = ""] = EDIT.exec(request) ?? [];
      const number = `/(?<![\\d.])${old.replaceAll(".", "\\.")}(?!\\d)/`;
      return [{
        thinking: `Find ${old} in ${path} before changing it.`,
        code: [`const source = await fs.readFile(${JSON.stringify(path)})
const found = source.split("\\n").filter((line) => ${number}.test(line))
found.join("\\n")`],
      }, {
        thinking: "The line is known: change the number in it.",
        code: [`const line = found[0] ?? ""
const change = await fs.edit(${JSON.stringify(path)}, { old: line, new: line.replace(${number}, "${wanted}") })
change.diff`],
      }, { thinking: "The diff shows the change.", final: "```diff\n{{change.diff}}\n```" }];
    },
  },
  {
    example: "",
    takes: /\bfind the access code\b/i,
    replies: () => [{
      thinking: "The text may be large: search it without printing it.",
      code: ["const code = /access code is (\\d+)/.exec(context)?.[1] ?? null\ncode"],
    }, {
      thinking: "The search is done.",
      final: "{{#code}}The access code is {{code}}.{{/code}}{{^code}}There is no access code in context.{{/code}}",
    }],
  },
  {
    example: "Which files here mention TODO, and how often?",
    takes: /mentions?\s+["'`]?[\w-]+/i,
    replies(request) {
      const word = /mentions?\s+["'`]?([\w-]+)/i.exec(request)?.[1] ?? "TODO";
      return [{
        thinking: `One search over all files gives every line with ${word}; count them per file in code.`,
        code: [`const lines = await fs.grep("${word}", { literal: true, limit: 100000 })
const perFile = new Map<string, number>()
for (const { path, text } of lines) perFile.set(path, (perFile.get(path) ?? 0) + text.split("${word}").length - 1)
// Files that mention ${word}, most mentions first
const mentions = [...perFile].map(([path, count]) => ({ path, count })).sort((a, b) => b.count - a.count)
const total = mentions.reduce((sum, { count }) => sum + count, 0)
const amount = \`\${total} \${total === 1 ? "time" : "times"} in \${mentions.length} \${mentions.length === 1 ? "file" : "files"}\`
mentions`],
      }, {
        thinking: "The variable mentions has the files. Answer from it.",
        final:
          `{{#total}}${word} is mentioned {{amount}}:\n{{#mentions}}\n- {{path}}: {{count}}\n{{/mentions}}{{/total}}` +
          `{{^total}}No file mentions ${word}.{{/total}}`,
      }];
    },
  },
  {
    example: "How many files and lines are there?",
    takes: /\b(?:how many|count)\b[^]*\b(?:files?|lines?)\b/i,
    replies: () => [{
      thinking: "Count in code: paths by their ending, and all lines.",
      code: [`const paths = await fs.glob("**/*")
const perKind = new Map<string, number>()
for (const path of paths) {
  const kind = /\\.\\w+$/.exec(path)?.[0] ?? "without an ending"
  perKind.set(kind, (perKind.get(kind) ?? 0) + 1)
}
const kinds = [...perKind].map(([kind, count]) => ({ kind, count })).sort((a, b) => b.count - a.count).slice(0, 8)
const lines = await fs.count(".*")
const size = [[paths.length, "file"], [lines, "line"]].map(([n, one]) => n === 1 ? \`1 \${one}\` : \`\${n} \${one}s\`)
kinds`],
      final: "{{size.0}} with {{size.1}}:\n{{#kinds}}\n- {{kind}}: {{count}}\n{{/kinds}}",
    }],
  },
  {
    example: "List the files in this folder.",
    takes:
      /\b(?:list|show|which|what)\b[^]*\bfiles?\b|\bwhat(?:'s| is) (?:in )?(?:this|the) (?:folder|directory)\b|^\s*ls\s*$/i,
    replies: () => [{
      thinking: "One call gives the paths; show the first 30.",
      code: [`const files = await fs.glob("**/*")
const first = files.slice(0, 30).map((path) => ({ path }))
const more = files.length > first.length ? \`and \${files.length - first.length} more\` : ''
const count = files.length === 1 ? '1 file' : \`\${files.length} files\`
files.length`],
      final: "{{count}}:\n{{#first}}\n- {{path}}\n{{/first}}\n\n{{more}}",
    }],
  },
  {
    example: "What is 12 * 34 + 5?",
    takes: SUM,
    replies(request) {
      const sum = (SUM.exec(request)?.[0] ?? "").replace(/[×x]/g, "*").replaceAll("÷", "/").trim();
      return [{
        thinking: "Calculate in code.",
        code: [`const result = ${sum}\nresult`],
        final: `${sum} = {{result}}`,
      }];
    },
  },
  {
    example: "What does this project do?",
    takes: /\b(?:explain|describe|summari[sz]e|what (?:is|does))\b/i,
    replies(request) {
      const path = FILE.exec(request)?.[1];
      if (path === undefined) {
        return [{
          thinking: "The README describes it; without one, the list of files does.",
          code: [`const paths = await fs.glob("**/*")
const readme = paths.find((path) => /^readme(\\.\\w+)?$/i.test(path)) ?? ""
const text = readme === "" ? "" : await fs.readFile(readme)
const begins = text === '' ? 'It has no README.' : text.slice(0, 600)
const count = paths.length === 1 ? '1 file' : \`\${paths.length} files\`
begins`],
          final: "This folder has {{count}}. {{#readme}}Its {{readme}} begins:{{/readme}}\n\n{{begins}}",
        }];
      }
      return [{
        thinking: `Read ${path} and find what it defines.`,
        code: [`const text = await fs.readFile(${JSON.stringify(path)})
const lines = text.split("\\n")
const defines = [...text.matchAll(/^(?:export )?(?:async )?(?:function|class|interface|def|const|type) (\\w+)/gm)]
  .map(([, name]) => ({ name })).slice(0, 20)
const begins = lines.slice(0, 12).join("\\n")
const count = lines.length === 1 ? '1 line' : \`\${lines.length} lines\`
defines`],
        final: `${path} has {{count}}.{{#defines.length}} It defines:\n{{#defines}}\n- {{name}}\n{{/defines}}\n` +
          "{{/defines.length}}\n\nIt begins:\n\n```\n{{begins}}\n```",
      }];
    },
  },
];

const WHAT = "This is the demo: it plays scripted replies and is not a model.";
const ADD_ONE = "To work with a model: /model in interactive mode, or the command vis auth login.";
const OF_AN_ITERATION = 4;
const FAILED = / → ((?:ERROR|REFUSED|TIMEOUT|KILLED|OUT OF MEMORY|CANCELLED) [^]*)/;

export function demoProvider(): Provider {
  const reply = (texts: readonly string[]) => ({ text: demoReply(texts), reasoning: "" });
  return playedProvider({ name: "demo", model: "scripted", images: false, reply });
}

export function demoReply(texts: readonly string[]): string {
  if (texts.length < OF_AN_ITERATION) return `${WHAT} ${ADD_ONE}`;
  const request = texts[1] ?? "", context = texts.at(-1) ?? "";
  const scene = SCENES.find(({ takes }) => takes.test(request));
  if (!scene) {
    const list = SCENES.flatMap(({ example }) => example === "" ? [] : [`- ${example}`]).join("\n");
    return replyText({
      thinking: "No scripted reply fits this request.",
      final: `${WHAT} It answers small requests such as these:\n\n${list}\n\n${ADD_ONE}`,
    });
  }
  const replies = scene.replies(request);
  const reply = replies[Number(/^\[iter (\d+)\//m.exec(context)?.[1] ?? 1) - 1];
  const journal = /\n<journal(?:~\d+)?>\n([^]*?)\n<\/journal/.exec(context)?.[1] ?? "";
  const failed = FAILED.exec(journal.split(/^ {2}\[\d+(?:~\d+)?\] /m).at(-1) ?? "")?.[1];
  if (failed === undefined || reply?.afterFailure) return replyText(reply ?? replies.at(-1)!);
  return replyText({
    thinking: "The block failed, and the demo has no alternative.",
    final: `The demo could not do that: ${failed.slice(0, 300)}`,
  });
}

function replyText({ thinking, code = [], final }: DemoReply): string {
  return JSON.stringify({
    thinking,
    code: code.map((expr) => ({ expr, timeMs: 5_000 })),
    ...(final === undefined
      ? {}
      : { final: { answer: final, answerType: final.includes("\n") ? "markdown" : "text", confidence: "high" } }),
  });
}

function centsIn(request: string): number {
  return Number(/(\d[\d_]*)\s*cents/.exec(request)?.[1]?.replaceAll("_", "") ?? 0);
}
