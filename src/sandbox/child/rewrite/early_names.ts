import type { AnyNode, Identifier, Program } from "acorn";
import { boundIdentifiers, childNodes, freeIdentifiers, isClass, isFunction } from "../syntax/analysis.ts";
import type { SourceEdit } from "../syntax/edits.ts";

interface Declared {
  readonly isConst: boolean;
  /** Where its declaration begins, and from where on the name has its value. */
  readonly start: number;
  readonly from: number;
}

/** A block runs on properties of the global, which exist before their declaration and can always be assigned. Where its
 * code outside of functions reads a name before its declaration in the same block, or assigns a constant of this block,
 * these edits fail as the language does. One thing is allowed: `const rows = rows.filter(…)` has the value of an earlier
 * block. `fail` is the name of a function: of a name, whether it is a constant (null: read by its own declaration), and
 * the value that would be assigned. */
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
}

function editsIn(node: AnyNode, search: Search): SourceEdit[] {
  if (isFunction(node) || isClass(node)) return [];
  const inner = (nodes: readonly AnyNode[]): SourceEdit[] => nodes.flatMap((one) => editsIn(one, search));
  if (node.type === "AssignmentExpression" && node.left.type === "Identifier") {
    const { left, right } = node;
    const call = failing(left, search, true);
    if (!call) return inner([right]);
    const at = (start: number, text: string): SourceEdit => ({ start, end: start, text });
    return [at(right.start, `${call},`), ...inner([right]), at(right.end, ")")];
  }
  if (node.type === "UpdateExpression" && node.argument.type === "Identifier") {
    const call = failing(node.argument, search, true);
    return call ? [{ start: node.start, end: node.end, text: `${call})` }] : [];
  }
  if (node.type === "Property" && node.shorthand) {
    const call = node.value.type === "Identifier" ? failing(node.value, search, false) : null;
    return call ? [{ start: node.end, end: node.end, text: `:${call})` }] : [];
  }
  if (node.type === "Identifier") {
    const call = failing(node, search, false);
    // In brackets, as `new C()` takes the first call for its arguments.
    return call ? [{ start: node.start, end: node.end, text: `(${call}))` }] : [];
  }
  if (node.type === "AssignmentExpression") return inner([node.right]); // a pattern
  if (node.type === "ForInStatement" || node.type === "ForOfStatement") return inner([node.right, node.body]);
  if (node.type === "VariableDeclarator") return node.init ? inner([node.init]) : [];
  if (node.type === "CatchClause") return inner([node.body]);
  return inner(childNodes(node));
}

/** The call that fails, without its closing bracket; null if nothing is wrong. */
function failing(node: Identifier, { declared, free, fail }: Search, isAssigned: boolean): string | null {
  const found = free.has(node) ? declared.get(node.name) : undefined;
  if (!found) return null;
  if (!isAssigned && node.start >= found.start && node.start < found.from) return `${fail}("${node.name}",null`;
  if (node.start < found.from) return `${fail}("${node.name}",false`;
  return isAssigned && found.isConst ? `${fail}("${node.name}",true` : null;
}
