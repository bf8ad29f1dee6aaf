import { type AnyNode, parse, type Program } from "acorn";
import { restoredScript, type RestoredSource } from "../rewrite/restored_script.ts";
import { isClass, isFunction } from "../syntax/analysis.ts";
import { isFixedName, useRefusalOf } from "./refusals.ts";

/** Why the source of a stored variable must not be evaluated, or null: it may come from a file of somebody else. What
 * the engine would get is parsed, and must give the variable one function, class, enum or namespace as a block declares
 * it, with nothing in it that a block may not use. A class or a namespace may still run code when it is evaluated. */
export function restoredFault(image: RestoredSource): string | null {
  if (isFixedName(image.name)) return "no block may declare its name";
  const js = restoredScript(image);
  let program: Program;
  try {
    program = parse(js, { ecmaVersion: "latest", sourceType: "script" });
  } catch {
    return NOT_ONE;
  }
  const value = assigned(program, image.name);
  if (!value || !isDeclared(value, image.kind)) return NOT_ONE;
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

function isDeclared(node: AnyNode, kind: RestoredSource["kind"]): boolean {
  if (kind === "function") return isFunction(node);
  return isClass(node) || isFilled(node) || isPath(node);
}

/** An enum or namespace: `(object => ((function (A) {…})(object), object))({})`, where the `{}` may be what it extends. */
function isFilled(node: AnyNode): boolean {
  if (node.type !== "CallExpression" || node.callee.type !== "ArrowFunctionExpression") return false;
  const { callee: { params, body }, arguments: [begun, ...more] } = node, [object] = params;
  if (params.length !== 1 || object?.type !== "Identifier" || !begun || more.length > 0) return false;
  const isObject = (part: AnyNode | undefined): boolean => part?.type === "Identifier" && part.name === object.name;
  const parts: readonly AnyNode[] = body.type === "SequenceExpression" ? body.expressions : [body];
  const fills = parts.slice(0, -1).every((part) =>
    part.type === "CallExpression" && part.callee.type === "FunctionExpression" && part.arguments.length === 1 &&
    isObject(part.arguments[0])
  );
  return fills && isObject(parts.at(-1)) &&
    (isEmptyObject(begun) || isFunction(begun) || isClass(begun) || isFilled(begun));
}

function isEmptyObject(node: AnyNode): boolean {
  return node.type === "ObjectExpression" && node.properties.length === 0;
}

/** What `import B = A.B` declares. */
function isPath(node: AnyNode): boolean {
  if (node.type === "Identifier") return true;
  return node.type === "MemberExpression" && !node.computed && node.property.type === "Identifier" &&
    isPath(node.object);
}
