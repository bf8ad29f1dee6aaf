import type { AnyNode, Identifier } from "acorn";
import { childNodes, isFunction } from "../syntax/analysis.ts";
import type { SourceEdit } from "../syntax/edits.ts";

interface References {
  readonly nodes: ReadonlySet<Identifier>;
  /** The text before each name: `A.`. */
  readonly prefix: string;
}

/** Turns names in part of a program into properties: `x` into `A.x`, `{ x }` into `{ x: A.x }`, and `x()` into
 * `(0,A.x)()`, so that it is still called without an object. */
export function referenceEdits(part: AnyNode, references: References): SourceEdit[] {
  const edits: SourceEdit[] = [];
  if (references.nodes.size > 0) visit(part, { references, edits });
  return edits;
}

interface Visit {
  readonly references: References;
  readonly edits: SourceEdit[];
}

function visit(node: AnyNode, at: Visit): void {
  const { nodes, prefix } = at.references;
  if (node.type === "Property" && node.shorthand && node.key.type === "Identifier") {
    const named: AnyNode = node.value.type === "AssignmentPattern" ? node.value.left : node.value;
    if (named.type === "Identifier" && nodes.has(named)) {
      at.edits.push({ start: node.start, end: node.start, text: `${node.key.name}:${prefix}` });
      if (node.value.type === "AssignmentPattern") visit(node.value.right, at);
      return;
    }
  }
  const callee = calleeOf(node);
  for (const child of childNodes(node)) {
    if (child.type !== "Identifier" || !nodes.has(child)) {
      if (isList(node)) separate(child, at);
      visit(child, at);
      continue;
    }
    const { start, end } = child;
    if (child !== callee) at.edits.push({ start, end: start, text: prefix });
    else {
      at.edits.push({ start, end: start, text: `(0,${prefix}` });
      at.edits.push({ start: end, end, text: ")" });
    }
  }
}

function calleeOf(node: AnyNode): AnyNode | null {
  if (node.type === "CallExpression") return node.callee;
  return node.type === "TaggedTemplateExpression" ? node.tag : null;
}

function isList(node: AnyNode): boolean {
  return node.type === "BlockStatement" || node.type === "StaticBlock" || node.type === "SwitchCase" ||
    node.type === "Program";
}

/** A statement that starts with such a call now starts with "(", so the previous one must be terminated. */
function separate(statement: AnyNode, { references, edits }: Visit): void {
  if (statement.type === "ExpressionStatement" && beginsWithCall(statement.expression, references.nodes)) {
    edits.push({ start: statement.start, end: statement.start, text: ";" });
  }
}

function beginsWithCall(node: AnyNode, nodes: ReadonlySet<Identifier>): boolean {
  if (isFunction(node)) return false;
  for (const child of childNodes(node)) {
    if (child.start !== node.start) continue;
    if (child.type === "Identifier" && child === calleeOf(node)) return nodes.has(child);
    return beginsWithCall(child, nodes);
  }
  return false;
}
