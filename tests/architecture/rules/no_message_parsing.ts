import { placeOf } from "./_place.ts";

const READERS = /^(includes|match|matchAll|startsWith|endsWith|search|indexOf)$/;
const CHANGERS = /^(split|replace|replaceAll)$/;
const WORDS = /^(message|stderr)$/, TOLD = /^(message|stderr|reason)$/;

/** Matches the words of an error: `error.message`, `messageOf(error)`, or a variable that is named after them. */
function isWords(node: Deno.lint.Node | undefined, words: RegExp): boolean {
  if (node?.type === "MemberExpression") return node.property.type === "Identifier" && words.test(node.property.name);
  if (node?.type === "ChainExpression") return isWords(node.expression, words);
  if (node?.type === "CallExpression") return node.callee.type === "Identifier" && node.callee.name === "messageOf";
  return node?.type === "Identifier" && words.test(node.name);
}

/** Class and code distinguish errors. If another program, SQLite or the runtime gives words only, one place reads them,
 * with the reason in a `deno-lint-ignore`. */
export const noMessageParsing: Deno.lint.Rule = {
  create(context) {
    if (!placeOf(context).program) return {};
    return {
      CallExpression(node) {
        const callee = node.callee.type === "ChainExpression" ? node.callee.expression : node.callee;
        if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
        const { name } = callee.property;
        const reads = READERS.test(name) && isWords(callee.object, TOLD) ||
          CHANGERS.test(name) && isWords(callee.object, WORDS) ||
          /^(test|exec)$/.test(name) && node.arguments.some((one) => isWords(one, TOLD));
        if (reads) {
          context.report({ node, message: "The words of an error are parsed", hint: "Give the error a code" });
        }
      },
    };
  },
};
