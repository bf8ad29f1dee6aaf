import type { AnyNode, Program } from "acorn";
import { restoredScript, type RestoredSource } from "../rewrite/restored_script.ts";
import { isClass, isFunction } from "../syntax/analysis.ts";
import { CodeParser } from "../syntax/parser.ts";
import { isFixedName, useRefusalOf } from "./refusals.ts";

/** Why the source of a stored variable must not be evaluated, or null: it may come from a file of somebody else. What
 * the engine would get is parsed, and must give the variable one function or class as a block declares it, with nothing
 * in it that a block may not use. A class may still run code when it is evaluated. */
export function restoredFault(image: RestoredSource): string | null {
  if (isFixedName(image.name)) return "no block may declare its name";
  const js = restoredScript(image);
  let program: Program;
  try {
    program = CodeParser.parse(js, { ecmaVersion: "latest", sourceType: "script" });
  } catch {
    return NOT_ONE;
  }
  const value = assigned(program, image.name);
  const isDeclared = value && (image.kind === "function" ? isFunction(value) : isClass(value));
  if (!isDeclared) return NOT_ONE;
  return useRefusalOf(program, { js, place: (at) => `1:${at + 1}` })?.message ?? null;
}

const NOT_ONE = "its code is not one function or class";

/** The value of `"use strict"; name = value`. */
function assigned({ body }: Program, name: string): AnyNode | null {
  const [strict, node, ...more] = body;
  if (strict?.type !== "ExpressionStatement" || strict.directive !== "use strict" || more.length > 0) return null;
  if (node?.type !== "ExpressionStatement" || node.expression.type !== "AssignmentExpression") return null;
  const { left, right, operator } = node.expression;
  return left.type === "Identifier" && left.name === name && operator === "=" ? right : null;
}
