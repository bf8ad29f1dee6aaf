import type { AnyNode, Comment, Expression, Program, Statement } from "acorn";
import { awaits, boundNames, freeNames, isClass, isFunction, LANGUAGE_NAMES, nestedVars } from "./analysis.ts";

export interface Declaration {
  readonly name: string;
  readonly declaration: "const" | "let" | "var" | "function" | "class" | "enum";
  /** This is the first line with text of the comment before the statement, cut to 80 characters. */
  readonly doc: string;
  readonly source: string;
  readonly statement: string;
  readonly requires: readonly string[];
}

export interface ParsedText {
  readonly program: Program;
  readonly js: string;
  readonly comments: readonly Comment[];
}

const MAX_STATEMENT = 500, MAX_DOC = 80;

/** Includes `var` in nested blocks and loops. */
export function topLevelDeclarations(text: ParsedText): Declaration[] {
  const found = new Map<string, Declaration>();
  const { body } = text.program;
  const add = (one: Declaration): void => {
    found.delete(one.name);
    found.set(one.name, one);
  };
  body.forEach((node, i) => {
    const name = enumOf(node, body[i + 1]);
    if (name === null) { for (const one of declarationsOf(node, text)) add(one); }
    else add({ ...made(name, { value: body[i + 1]!, node, declaration: "enum" }, text), statement: `enum ${name}` });
  });
  return [...found.values()];
}

/** For an enum, the stripper writes `var A; (function (A) {…})(A || (A = {}));`. */
export function enumOf(node: AnyNode, next: AnyNode | undefined): string | null {
  if (node.type !== "VariableDeclaration" || node.kind !== "var" || next?.type !== "ExpressionStatement") return null;
  const [only] = node.declarations, call = next.expression;
  if (only?.id.type !== "Identifier" || only.init) return null;
  if (call.type !== "CallExpression" || call.callee.type !== "FunctionExpression") return null;
  const [argument] = call.arguments, [param] = call.callee.params, { name } = only.id;
  const isName = (one: AnyNode | undefined): boolean => one?.type === "Identifier" && one.name === name;
  return argument?.type === "LogicalExpression" && argument.operator === "||" && isName(argument.left) && isName(param)
    ? name
    : null;
}

export function topLevelAssignments(text: ParsedText): Declaration[] {
  return text.program.body.flatMap((node) => {
    if (node.type !== "ExpressionStatement" || node.expression.type !== "AssignmentExpression") return [];
    const { left, right, operator } = node.expression;
    if (left.type !== "Identifier" || operator !== "=") return [];
    return [made(left.name, { value: right, node, declaration: "let" }, text)];
  });
}

export function declaredLast(program: Program): string | null {
  const last = program.body.findLast((node) => node.type !== "EmptyStatement");
  if (last?.type !== "VariableDeclaration" || !["const", "let", "var"].includes(last.kind)) return null;
  const { id, init } = last.declarations.at(-1) ?? {};
  return init && id?.type === "Identifier" ? id.name : null;
}

export function askedLast(program: Program): "call" | "value" | null {
  const last = program.body.findLast((node) => node.type !== "EmptyStatement");
  if (last?.type !== "ExpressionStatement") return null;
  const { expression } = last;
  const asked = expression.type === "AwaitExpression" ? expression.argument : expression;
  if (asked.type !== "CallExpression") return "value";
  const { callee } = asked;
  return callee.type === "Identifier" && callee.name === "answer" ? null : "call";
}

function declarationsOf(node: Program["body"][number], text: ParsedText): Declaration[] {
  if (node.type === "FunctionDeclaration") {
    return [made(node.id.name, { value: node, node, declaration: "function" }, text)];
  }
  if (node.type === "ClassDeclaration") return [made(node.id.name, { value: node, node, declaration: "class" }, text)];
  return (node.type === "VariableDeclaration" ? [node] : nestedVars(node)).flatMap(({ kind, declarations }) => {
    if (kind !== "const" && kind !== "let" && kind !== "var") return []; // A variable of `using` ends with the block.
    return declarations.flatMap((one) => {
      const value = one.id.type === "Identifier" ? one.init ?? one : one;
      return boundNames(one.id).map((name) => made(name, { value, node, declaration: kind }, text));
    });
  });
}

interface Making {
  readonly value: AnyNode;
  readonly node: AnyNode;
  readonly declaration: Declaration["declaration"];
}

function made(name: string, { value, node, declaration }: Making, text: ParsedText): Declaration {
  const { js } = text;
  return {
    name,
    declaration,
    doc: docBefore(node, text),
    source: sourceOf(value, js),
    statement: js.slice(node.start, Math.min(node.end, node.start + MAX_STATEMENT)),
    requires: freeNames(value).filter((one) => one !== name && !LANGUAGE_NAMES.has(one)),
  };
}

function sourceOf(value: AnyNode | Expression | Statement, js: string): string {
  // A class whose heritage or keys await a promise cannot be evaluated separately.
  return isFunction(value) || (isClass(value) && !awaits(value)) ? js.slice(value.start, value.end) : "";
}

const DOC = Symbol("doc");

function docBefore(node: AnyNode & { [DOC]?: string }, { js, comments }: ParsedText): string {
  if (node[DOC] !== undefined) return node[DOC];
  let end = node.start, first: Comment | null = null;
  for (let i = lastBefore(comments, end); i >= 0; i--) {
    const comment = comments[i]!;
    if (!/^[^\S\n]*\n?[^\S\n]*$/.test(js.slice(comment.end, end)) || !beginsLine(js, comment.start)) break;
    first = comment;
    end = comment.start;
    if (comment.type === "Block") break;
  }
  const lines = (first?.value ?? "").split("\n").map((line) => line.replace(/^[\s*]+|[\s*]+$/g, ""));
  const line = lines.find((one) => one !== "") ?? "";
  return node[DOC] = line.length > MAX_DOC ? `${line.slice(0, MAX_DOC - 1)}…` : line;
}

function beginsLine(js: string, offset: number): boolean {
  let at = offset - 1;
  while (at >= 0 && js[at] !== "\n" && js[at]!.trim() === "") at--;
  return at < 0 || js[at] === "\n";
}

function lastBefore(comments: readonly Comment[], offset: number): number {
  let low = 0, high = comments.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comments[middle]!.end <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Null means that the block has too many names, so all names that it reads count for each of its variables. */
export type MadeFrom = Readonly<Record<string, readonly string[]>> | null;

const MOST_NAMES = 10_000;

/** A statement such as `list.push(x)` counts for `list`, because the call may change the variable. */
export function madeFrom(
  program: Program,
  { declarations, assigned }: {
    readonly declarations: readonly Declaration[];
    readonly assigned: readonly Declaration[];
  },
): MadeFrom {
  const found = new Map<string, Set<string>>();
  for (const { name, requires } of [...declarations, ...assigned]) addTo(found, name, requires);
  let added = 0;
  for (const statement of program.body) {
    if (statement.type === "VariableDeclaration" || statement.type === "FunctionDeclaration") continue;
    if (statement.type === "ClassDeclaration") continue;
    const names = freeNames(statement).filter((name) => !LANGUAGE_NAMES.has(name));
    const changed = statement.type === "ExpressionStatement" ? new Set(changedBy(statement.expression)) : null;
    const made = names.filter((name) => found.has(name) && changed?.has(name) !== false);
    added += made.length * names.length;
    if (added > MOST_NAMES * 10 || made.length * names.length > MOST_NAMES) return null;
    for (const name of made) addTo(found, name, names);
  }
  if ([...found.values()].reduce((sum, reads) => sum + reads.size, 0) > MOST_NAMES) return null;
  return Object.fromEntries([...found].map(([name, reads]) => [name, [...reads].filter((read) => read !== name)]));
}

function addTo(found: Map<string, Set<string>>, name: string, reads: readonly string[]): void {
  const known = found.get(name) ?? new Set();
  for (const read of reads) known.add(read);
  found.set(name, known);
}

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

function rootOf(node: AnyNode): readonly string[] {
  if (node.type === "Identifier") return [node.name];
  if (node.type === "CallExpression") return rootOf(node.callee);
  return node.type === "MemberExpression" ? rootOf(node.object) : [];
}
