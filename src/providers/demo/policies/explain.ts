import { atOnce } from "./at_once.ts";
import type { Policy, PolicyInput, PolicyReply } from "./policy.ts";

const FILE = /(?:^|[\s"'`])((?:[\w.-]+\/)*[\w-]+\.\w+)\b/;

/** Tells what a file or the project is, from its own words. */
export const explain: Policy = {
  example: "What does this project do?",
  takes: /\b(?:explain|describe|summari[sz]e|what (?:is|does))\b/i,
  decide({ request, context }: PolicyInput): PolicyReply {
    const path = FILE.exec(request)?.[1];
    return atOnce(context, path === undefined ? project() : file(path));
  },
};

function project(): PolicyReply {
  return {
    thinking: "The README describes it; without one, the list of files does.",
    code: [[
      'const paths = await fs.glob("**/*")',
      'const readme = paths.find((path) => /^readme(\\.\\w+)?$/i.test(path)) ?? ""',
      'const text = readme === "" ? "" : await fs.readFile(readme)',
      "const begins = text === '' ? 'It has no README.' : text.slice(0, 600)",
      "begins",
    ].join("\n")],
    answerType: "markdown",
    final: "This folder has {{paths.length}} files. {{#readme}}Its {{readme}} begins:{{/readme}}\n\n{{begins}}",
  };
}

function file(path: string): PolicyReply {
  return {
    thinking: `Read ${path} and find what it defines.`,
    code: [[
      `const text = await fs.readFile(${JSON.stringify(path)})`,
      'const lines = text.split("\\n")',
      "const defines = [...text.matchAll(/^(?:export )?(?:async )?(?:function|class|interface|def|const|type) (\\w+)/gm)]",
      "  .map(([, name]) => ({ name })).slice(0, 20)",
      'const begins = lines.slice(0, 12).join("\\n")',
      "defines",
    ].join("\n")],
    answerType: "markdown",
    final:
      `${path} has {{lines.length}} lines.{{#defines.length}} It defines:\n{{#defines}}\n- {{name}}\n{{/defines}}\n` +
      "{{/defines.length}}\n\nIt begins:\n\n```\n{{begins}}\n```",
  };
}
