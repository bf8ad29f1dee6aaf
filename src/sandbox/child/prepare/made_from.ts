import type { AnyNode, Expression, Program } from "acorn";
import type { Declaration } from "../rewrite/declarations.ts";
import { boundNames, freeNames } from "../syntax/analysis.ts";
import { LANGUAGE_NAMES } from "../syntax/language_names.ts";

/** What the statements of a block refer to that define or change a variable, by the name of the variable. */
export type MadeFrom = Readonly<Record<string, readonly string[]>>;

/** A block with more is not worth the report: then all that it reads counts for each of its variables. */
const MOST_NAMES = 10_000;

/** For each variable that a block defines or assigns. Other statements count where they may change it: `list.push(x)`,
 * and all that a loop or branch names. */
export function madeFrom(
  program: Program,
  { declarations, assigned }: {
    readonly declarations: readonly Declaration[];
    readonly assigned: readonly Declaration[];
  },
): MadeFrom {
  const found = new Map<string, Set<string>>();
  for (const { name, requires } of [...declarations, ...assigned]) addTo(found, name, requires);
  for (const statement of program.body) {
    if (statement.type === "VariableDeclaration" || statement.type === "FunctionDeclaration") continue;
    if (statement.type === "ClassDeclaration") continue;
    const names = freeNames(statement).filter((name) => !LANGUAGE_NAMES.has(name));
    const changed = statement.type === "ExpressionStatement" ? new Set(changedBy(statement.expression)) : null;
    const made = names.filter((name) => found.has(name) && changed?.has(name) !== false);
    if (made.length * names.length > MOST_NAMES) return {};
    for (const name of made) addTo(found, name, names);
  }
  if ([...found.values()].reduce((sum, reads) => sum + reads.size, 0) > MOST_NAMES) return {};
  return Object.fromEntries([...found].map(([name, reads]) => [name, [...reads].filter((read) => read !== name)]));
}

function addTo(found: Map<string, Set<string>>, name: string, reads: readonly string[]): void {
  const known = found.get(name) ?? new Set();
  for (const read of reads) known.add(read);
  found.set(name, known);
}

/** Names that an expression assigns, or of which it calls a method. */
function changedBy(expression: Expression): readonly string[] {
  switch (expression.type) {
    case "AwaitExpression":
      return changedBy(expression.argument);
    case "UpdateExpression":
      return rootOf(expression.argument);
    case "AssignmentExpression":
      return expression.left.type === "MemberExpression" ? rootOf(expression.left) : boundNames(expression.left);
    case "CallExpression":
      return expression.callee.type === "MemberExpression" ? rootOf(expression.callee) : [];
    case "SequenceExpression":
      return expression.expressions.flatMap(changedBy);
    default:
      return [];
  }
}

/** The variable of `a.b[c].d`. */
function rootOf(node: AnyNode): readonly string[] {
  if (node.type === "Identifier") return [node.name];
  if (node.type === "CallExpression") return rootOf(node.callee);
  return node.type === "MemberExpression" ? rootOf(node.object) : [];
}
