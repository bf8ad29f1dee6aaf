import type { AnyNode, ExpressionStatement, Program } from "acorn";
import { childNodes } from "../syntax/analysis.ts";

/** A statement that fills the object of an enum or namespace: `(function (A) {…})(A || (A = {}));`. */
export interface Filling {
  readonly name: string;
  /** What it calls. */
  readonly fill: AnyNode;
}

/** What the stripper outputs for an enum, and unfolding for a namespace. A name without a preceding `var` is declared
 * elsewhere in the block. */
export function fillingOf(node: AnyNode | undefined): Filling | null {
  if (node?.type !== "ExpressionStatement") return null;
  const call: AnyNode = (node as ExpressionStatement).expression;
  if (call.type !== "CallExpression" || call.callee.type !== "FunctionExpression") return null;
  const [argument] = call.arguments, [param] = call.callee.params;
  if (argument?.type !== "LogicalExpression" || argument.operator !== "||") return null;
  if (argument.left.type !== "Identifier" || param?.type !== "Identifier") return null;
  const { name } = argument.left;
  return param.name.replace(/\u200d+$/, "") === name ? { name, fill: call.callee } : null;
}

/** Statements that fill objects, by name; empty for most blocks. */
export function fillingsOf(program: Program): ReadonlyMap<string, readonly Filling[]> {
  const found = new Map<string, Filling[]>();
  for (const node of program.body) {
    const filling = fillingOf(node);
    if (filling) found.set(filling.name, [...found.get(filling.name) ?? [], filling]);
  }
  return found;
}

/** Keys that the function of an enum sets: `A[A["x"] = x] = "x"`. */
export function enumKeys({ fill }: Filling): string[] {
  const keys = new Set<string>();
  const param = fill.type === "FunctionExpression" ? fill.params[0] : null;
  const visit = (node: AnyNode): void => {
    if (node.type === "AssignmentExpression" && node.left.type === "MemberExpression" && param?.type === "Identifier") {
      const { object, property, computed } = node.left;
      const own = computed && object.type === "Identifier" && object.name === param.name;
      if (own && property.type === "Literal" && typeof property.value === "string") keys.add(property.value);
    }
    childNodes(node).forEach(visit);
  };
  visit(fill);
  return [...keys];
}
