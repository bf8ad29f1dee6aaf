import { placeOf } from "./_place.ts";

const LIMIT = 50;

/** A function longer than a screen is two functions. */
export const maxFunctionLines: Deno.lint.Rule = {
  create(context) {
    if (placeOf(context).path.startsWith("tests/")) return {};
    const check = (node: Deno.lint.Node): void => {
      const lines = context.sourceCode.getText(node).split("\n").length;
      if (lines > LIMIT) context.report({ node, message: `Function has ${lines} lines: the limit is ${LIMIT}` });
    };
    return { FunctionDeclaration: check, ArrowFunctionExpression: check, FunctionExpression: check };
  },
};
