import { type FunctionExpression, parse, type Program } from "acorn";
import { useRefusalOf } from "./refusals.ts";

const UNSAFE = "This block may be correct, but it could not be rewritten safely: write its declarations on lines of " +
  "their own, without comments inside them, and nest it less deeply";

/** The rewriter changes text, where a mistake could let code out of the function that a block runs as. What the engine
 * gets is therefore parsed again, as a script: it must be one function and nothing beside it, and contain nothing that
 * a block may not use. Null if that is so, else the reason for the model. */
export function scriptFault(code: string): string | null {
  let program: Program;
  try {
    program = parse(code, { ecmaVersion: "latest", sourceType: "script" });
  } catch {
    return UNSAFE;
  }
  const block = onlyFunction(program);
  if (!block) return UNSAFE;
  if (!/import|arguments|\\u/.test(code)) return null; // most blocks, and looking at each name takes as long as parsing
  const inside: Program = { ...program, body: block.body.body };
  return useRefusalOf(inside, { js: code, place: () => "" })?.message ?? null;
}

function onlyFunction({ body }: Program): FunctionExpression | null {
  const [strict, block, ...more] = body;
  if (strict?.type !== "ExpressionStatement" || strict.directive !== "use strict" || more.length > 0) return null;
  if (block?.type !== "ExpressionStatement" || block.expression.type !== "FunctionExpression") return null;
  return block.expression;
}
