import type { AnyNode, Identifier, Program } from "acorn";
import { boundIdentifiers, childNodes, freeIdentifiers, isClass, isFunction } from "../syntax/analysis.ts";
import type { SourceEdit } from "../syntax/edits.ts";

interface Declared {
  readonly isConst: boolean;
  /** Where its declaration begins, and from where on the name has its value. */
  readonly start: number;
  readonly from: number;
}

/** A block's declarations are properties of the global object, which exist before the block runs and can always be
 * assigned. These edits make its code throw where the language does: where it assigns a constant and, outside of
 * functions, where it reads a name before the declaration. A declaration that reads its own name,
 * `const rows = rows.filter(…)`, has the value of an earlier block if there is one.
 *
 * The edits call the function `fail` with the name, with true for a constant that is assigned, false for a name that
 * is read too early and null for one that its own declaration reads, and with the value to assign, which is computed
 * first. */
export function earlyNameEdits(program: Program, fail: string): SourceEdit[] {
  const declared = declaredOnce(program);
  if (declared.size === 0) return [];
  const free = new Set<AnyNode>();
  for (const statement of program.body) {
    for (const one of freeIdentifiers(statement)) if (declared.has(one.name)) free.add(one);
  }
  return free.size === 0 ? [] : program.body.flatMap((statement) => editsIn(statement, { declared, free, fail }));
}

function declaredOnce({ body }: Program): ReadonlyMap<string, Declared> {
  const found = new Map<string, Declared>();
  for (const node of body) {
    if (node.type === "ClassDeclaration") {
      found.set(node.id.name, { isConst: false, start: node.start, from: node.start });
    }
    if (node.type !== "VariableDeclaration" || (node.kind !== "const" && node.kind !== "let")) continue;
    for (const { id, start, end } of node.declarations) {
      for (const { name } of boundIdentifiers(id)) {
        found.set(name, { isConst: node.kind === "const", start, from: end });
      }
    }
  }
  return found;
}

interface Search {
  readonly declared: ReadonlyMap<string, Declared>;
  readonly free: ReadonlySet<AnyNode>;
  readonly fail: string;
  /** In a function, which may run at any time. */
  readonly later?: boolean;
  /** Where the innermost statement that is an expression begins. */
  readonly statement?: number;
}

function editsIn(node: AnyNode, from: Search): SourceEdit[] {
  const search = isFunction(node) || isClass(node)
    ? { ...from, later: true }
    : node.type === "ExpressionStatement"
    ? { ...from, statement: node.start }
    : from;
  const inner = (nodes: readonly AnyNode[]): SourceEdit[] => nodes.flatMap((one) => editsIn(one, search));
  if (node.type === "AssignmentExpression") {
    const { left, right } = node;
    if (left.type !== "Identifier") return [...targetEdits(left, search), ...inner([right])];
    const call = failing(left, search, true);
    if (!call) return inner([right]);
    const at = (start: number, text: string): SourceEdit => ({ start, end: start, text });
    // After an arrow function a line may end the statement, which it would not after a bracket.
    if (right.type === "ArrowFunctionExpression") return [at(right.start, `[][${call})]=`), ...inner([right])];
    return [at(right.start, `${call},`), ...inner([right]), at(right.end, ")")];
  }
  if (node.type === "UpdateExpression" && node.argument.type === "Identifier") {
    const { start, end } = node.argument, call = failing(node.argument, search, true);
    return call ? [{ start, end, text: `${call}).x` }] : [];
  }
  if (node.type === "Property" && node.shorthand) {
    const call = node.value.type === "Identifier" ? failing(node.value, search, false) : null;
    return call ? [{ start: node.end, end: node.end, text: `:${call})` }] : [];
  }
  if (node.type === "Identifier") {
    const call = failing(node, search, false);
    // In brackets, as `new C()` takes the first call for its arguments; but the line before would go on with a bracket.
    const text = node.start === search.statement ? `${call})` : `(${call}))`;
    return call ? [{ start: node.start, end: node.end, text }] : [];
  }
  if (node.type === "ForInStatement" || node.type === "ForOfStatement") {
    const target = node.left.type === "VariableDeclaration" ? [] : targetEdits(node.left, search);
    return [...target, ...inner([node.right, node.body])];
  }
  if (node.type === "VariableDeclarator") return node.init ? inner([node.init]) : [];
  if (node.type === "CatchClause") return inner([node.body]);
  return inner(childNodes(node));
}

/** In a pattern, or before `of` and `in`, a constant becomes a property whose name throws when it is to be assigned. */
function targetEdits(node: AnyNode, search: Search, isShorthand = false): SourceEdit[] {
  const each = (nodes: readonly (AnyNode | null)[]): SourceEdit[] =>
    nodes.flatMap((one) => one ? targetEdits(one, search) : []);
  switch (node.type) {
    case "Identifier": {
      const call = failing(node, search, true);
      const start = isShorthand ? node.end : node.start;
      return call ? [{ start, end: node.end, text: `${isShorthand ? ":" : ""}[][${call})]` }] : [];
    }
    case "ObjectPattern":
      return each(node.properties);
    case "Property":
      return [...node.computed ? editsIn(node.key, search) : [], ...targetEdits(node.value, search, node.shorthand)];
    case "ArrayPattern":
      return each(node.elements);
    case "AssignmentPattern":
      return [...targetEdits(node.left, search, isShorthand), ...editsIn(node.right, search)];
    case "RestElement":
      return each([node.argument]);
    default:
      return editsIn(node, search);
  }
}

/** The call that fails, without its closing bracket; null if nothing is wrong. */
function failing(node: Identifier, { declared, free, fail, later }: Search, isAssigned: boolean): string | null {
  const found = free.has(node) ? declared.get(node.name) : undefined;
  if (!found || later && !(isAssigned && found.isConst)) return null;
  if (later) return `${fail}("${node.name}",true`;
  if (!isAssigned && node.start >= found.start && node.start < found.from) return `${fail}("${node.name}",null`;
  if (node.start < found.from) return `${fail}("${node.name}",false`;
  return isAssigned && found.isConst ? `${fail}("${node.name}",true` : null;
}
