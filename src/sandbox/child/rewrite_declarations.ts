import type { AnyNode, Comment, Expression, Program, Statement, VariableDeclaration } from "acorn";
import { awaits, boundNames, childNodes, freeNames, isClass, isFunction } from "./analysis.ts";
import { LANGUAGE_NAMES } from "./analysis_globals.ts";

/** A name that a block gives a value at its top level. */
export interface Declaration {
  readonly name: string;
  readonly declaration: "const" | "let" | "var" | "function" | "class";
  /** First line of the comment right before the statement, at most 80 characters. */
  readonly doc: string;
  /** JavaScript that evaluates to it where it is a function or class written down here, else "". */
  readonly source: string;
  /** The statement, at most 500 characters. */
  readonly statement: string;
  /** Names that the function, class or initial value refers to, without the language's own. */
  readonly requires: readonly string[];
}

export interface Text {
  readonly program: Program;
  readonly js: string;
  readonly comments: readonly Comment[];
}

const MAX_STATEMENT = 500, MAX_DOC = 80;

/** What a block declares at its top level, `var` in nested blocks and loops included, once for each name. */
export function topLevelDeclarations(text: Text): Declaration[] {
  const found = new Map<string, Declaration>();
  for (const node of text.program.body) {
    for (const one of declarationsOf(node, text)) {
      found.delete(one.name); // the last one counts, and its place
      found.set(one.name, one);
    }
  }
  return [...found.values()];
}

/** What the top level assigns to names, its own or others: `f = () => 1`. */
export function topLevelAssignments(text: Text): Declaration[] {
  return text.program.body.flatMap((node) => {
    if (node.type !== "ExpressionStatement" || node.expression.type !== "AssignmentExpression") return [];
    const { left, right, operator } = node.expression;
    if (left.type !== "Identifier" || operator !== "=") return [];
    return [describe({ name: left.name, declaration: "let", value: right, node }, text)];
  });
}

/** The name that the last statement gives a value as a variable, null where it does something else. */
export function declaredLast(program: Program): string | null {
  const last = program.body.findLast((node) => node.type !== "EmptyStatement");
  if (last?.type !== "VariableDeclaration" || !["const", "let", "var"].includes(last.kind)) return null;
  const { id, init } = last.declarations.at(-1) ?? {};
  return init && id?.type === "Identifier" ? id.name : null;
}

function declarationsOf(node: Program["body"][number], text: Text): Declaration[] {
  if (node.type === "FunctionDeclaration") {
    return [describe({ name: node.id.name, declaration: "function", value: node, node }, text)];
  }
  if (node.type === "ClassDeclaration") {
    return [describe({ name: node.id.name, declaration: "class", value: node, node }, text)];
  }
  if (node.type === "VariableDeclaration") return variablesOf(node, text);
  return nestedVars(node).flatMap((one) => variablesOf(one, text, node));
}

function variablesOf(node: VariableDeclaration, text: Text, statement: AnyNode = node): Declaration[] {
  const { kind } = node;
  if (kind !== "const" && kind !== "let" && kind !== "var") return []; // `using` ends with the block
  return node.declarations.flatMap((one) => {
    const value = one.id.type === "Identifier" ? one.init ?? one : one;
    return boundNames(one.id).map((name) => describe({ name, declaration: kind, value, node: statement }, text));
  });
}

/** `var` declarations inside a statement, functions and classes left out. */
export function nestedVars(node: AnyNode): VariableDeclaration[] {
  if (isFunction(node) || isClass(node)) return [];
  if (node.type === "VariableDeclaration" && node.kind === "var") return [node];
  return childNodes(node).flatMap(nestedVars);
}

interface Found {
  readonly name: string;
  readonly declaration: Declaration["declaration"];
  /** What its value is made by. */
  readonly value: AnyNode;
  readonly node: AnyNode;
}

function describe({ name, declaration, value, node }: Found, text: Text): Declaration {
  return {
    name,
    declaration,
    doc: docBefore(node, text),
    source: sourceOf(value, text.js),
    statement: text.js.slice(node.start, node.end).slice(0, MAX_STATEMENT),
    requires: freeNames(value).filter((one) => one !== name && !LANGUAGE_NAMES.has(one)),
  };
}

function sourceOf(value: AnyNode | Expression | Statement, js: string): string {
  // a class whose heritage or keys await something cannot be evaluated by itself
  return isFunction(value) || (isClass(value) && !awaits(value)) ? js.slice(value.start, value.end) : "";
}

/** The comment must stand on its own line and touch the statement; of several lines the first that says something. */
function docBefore(node: AnyNode, { js, comments }: Text): string {
  let end = node.start, first: Comment | null = null;
  for (let i = comments.length - 1; i >= 0; i--) {
    const comment = comments[i];
    if (!comment || comment.end > end) continue;
    if (!/^[^\S\n]*\n?[^\S\n]*$/.test(js.slice(comment.end, end))) break;
    if (!/(^|\n)[^\S\n]*$/.test(js.slice(0, comment.start))) break;
    first = comment;
    end = comment.start;
    if (comment.type === "Block") break;
  }
  const lines = (first?.value ?? "").split("\n").map((line) => line.replace(/^[\s*]+|[\s*]+$/g, ""));
  const line = lines.find((one) => one !== "") ?? "";
  return line.length > MAX_DOC ? `${line.slice(0, MAX_DOC - 1)}…` : line;
}
