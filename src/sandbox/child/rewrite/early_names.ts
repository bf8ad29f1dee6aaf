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
 * assigned. These edits make its code outside of functions throw where the language does: where it reads a name before
 * the declaration, or assigns a constant. A declaration that reads its own name, `const rows = rows.filter(…)`, has the
 * value of an earlier block if there is one.
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
}

function editsIn(node: AnyNode, search: Search): SourceEdit[] {
  if (isFunction(node) || isClass(node)) return [];
  const inner = (nodes: readonly AnyNode[]): SourceEdit[] => nodes.flatMap((one) => editsIn(one, search));
  if (node.type === "AssignmentExpression") {
    const { left, right } = node;
    const call = left.type === "Identifier" ? failing(left, search, true) : null;
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
