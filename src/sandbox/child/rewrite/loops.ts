import type { AnyNode } from "acorn";
import { boundNames, childNodes, freeNames, isClass, isFunction } from "../syntax/analysis.ts";
import { nestedVars } from "./declarations.ts";
import type { SourceEdit } from "../syntax/edits.ts";

export interface LoopOptions {
  /** Variables that the block declares. */
  readonly declared: ReadonlySet<string>;
  /** Whether a function may refer to a name. */
  readonly isSeen: (name: string) => boolean;
  /** A suffix that no name in the block has. */
  readonly suffix: string;
}

/** Name of the block's parameter for numbers, without its suffix. */
export const NUMBERS = "numbers";
const MAX_NAMES = 8;
const LOOPS: ReadonlySet<string> = new Set(["ForStatement", "WhileStatement", "ForOfStatement", "ForInStatement"]);
const UNFIT: ReadonlySet<string> = new Set(
  `TaggedTemplateExpression AwaitExpression YieldExpression ImportExpression DoWhileStatement
  ReturnStatement FunctionDeclaration FunctionExpression ArrowFunctionExpression ClassDeclaration ClassExpression`
    .split(/\s+/),
);

/** Storing a number that is not a small integer in a global property creates a new object. Loops therefore work on
 * local variables of the same names. No function refers to these, so nothing sees the difference while the loop runs;
 * when it ends in any way, the global variables get their values. A loop that is stopped from outside runs no
 * `finally`. It can be stopped between two rounds and inside calls, and before each of these the numbers are written to
 * a list that outlives it. */
export function loopEdits(statement: AnyNode, options: LoopOptions): SourceEdit[] {
  const locals = new Set<string>();
  addLocals(statement, locals);
  return editsIn(statement, { ...options, locals });
}

interface Search extends LoopOptions {
  /** Names that part of the statement binds for itself. */
  readonly locals: ReadonlySet<string>;
}

function editsIn(node: AnyNode, search: Search): SourceEdit[] {
  if (isFunction(node) || isClass(node)) return [];
  if (isLoop(node)) {
    const names = fitNames(node, search);
    if (names) return names.length > 0 ? localEdits(node, { names, suffix: search.suffix }) : [];
  }
  return childNodes(node).flatMap((child) => editsIn(child, search));
}

function isLoop(node: AnyNode): boolean {
  return LOOPS.has(node.type) || (node.type === "LabeledStatement" && isLoop(node.body));
}

/** The variables that a loop may keep local; null if it must not. */
function fitNames(loop: AnyNode, { declared, isSeen, locals }: Search): readonly string[] | null {
  if (!isFit(loop, { nearest: false, any: false })) return null;
  const free = new Set(freeNames(loop)),
    vars = nestedVars(loop).flatMap(({ declarations }) => declarations.flatMap(({ id }) => boundNames(id)));
  const assigned = new Set<string>(vars);
  addAssigned(loop, assigned);
  const names = [...assigned].filter((name) => vars.includes(name) || free.has(name));
  const outer = names.filter((name) => vars.includes(name) || !locals.has(name) || declared.has(name));
  const allowed = outer.every((name) => declared.has(name) && !locals.has(name) && !isSeen(name));
  return allowed && outer.length <= MAX_NAMES ? outer : null;
}

/** Whether an enclosing loop has no point after each round that `continue` passes through. */
interface Rounds {
  readonly nearest: boolean;
  readonly any: boolean;
}

/** Whether there is a point before each call, without an assignment between the two. Functions of Math do not count as
 * calls. */
function isFit(node: AnyNode, rounds: Rounds): boolean {
  if (isCalling(node)) return callsFirst(node) && !hasUnfit(node);
  if (UNFIT.has(node.type)) return false;
  if (node.type === "ContinueStatement" && (node.label ? rounds.any : rounds.nearest)) return false;
  if (node.type === "ForOfStatement" && node.await) return false;
  if (node.type === "VariableDeclaration" && (node.kind === "using" || node.kind === "await using")) return false;
  if (isCall(node)) return false;
  let inner = rounds;
  if (LOOPS.has(node.type)) {
    if ("body" in node && isVariables(node.body)) return false;
    if (node.type === "ForStatement" && node.init && hasCall(node.init)) return false; // it looks like a statement
    const nearest = node.type !== "ForStatement" || !node.update;
    inner = { nearest, any: rounds.any || nearest };
  }
  return childNodes(node).every((child) => isFit(child, inner));
}

function isCall(node: AnyNode): boolean {
  return node.type === "NewExpression" || (node.type === "CallExpression" && !isOfMath(node.callee));
}

function hasCall(node: AnyNode): boolean {
  return isCall(node) || childNodes(node).some(hasCall);
}

function hasUnfit(node: AnyNode): boolean {
  return UNFIT.has(node.type) || childNodes(node).some(hasUnfit);
}

/** A statement without nested statements that contains a call. */
function isCalling(node: AnyNode): boolean {
  return (node.type === "ExpressionStatement" || node.type === "VariableDeclaration") && hasCall(node);
}

/** `x += f(y)`: nothing is assigned before the last call has returned. */
function callsFirst(node: AnyNode): boolean {
  if (node.type === "VariableDeclaration") {
    if (node.kind !== "const" && node.kind !== "let") return false;
    return !assigns(node);
  }
  const expression = node.type === "ExpressionStatement" ? node.expression : node;
  const isPlain = expression.type === "AssignmentExpression" && expression.left.type === "Identifier";
  return !assigns(isPlain ? expression.right : expression);
}

function assigns(node: AnyNode): boolean {
  const names = new Set<string>();
  addAssigned(node, names);
  return names.size > 0;
}

function isVariables(body: unknown): boolean {
  return typeof body === "object" && body !== null && "type" in body && body.type === "VariableDeclaration";
}

function isOfMath(callee: AnyNode): boolean {
  return callee.type === "MemberExpression" && !callee.computed && callee.object.type === "Identifier" &&
    callee.object.name === "Math";
}

function addAssigned(node: AnyNode, names: Set<string>): void {
  if (node.type === "AssignmentExpression") boundNames(node.left).forEach((name) => names.add(name));
  if (node.type === "UpdateExpression" && node.argument.type === "Identifier") names.add(node.argument.name);
  const isList = node.type === "ForOfStatement" || node.type === "ForInStatement";
  if (isList && node.left.type !== "VariableDeclaration") boundNames(node.left).forEach((name) => names.add(name));
  childNodes(node).forEach((child) => addAssigned(child, names));
}

function addLocals(node: AnyNode, names: Set<string>): void {
  if (isFunction(node) || isClass(node)) {
    if (node.id) names.add(node.id.name);
    return;
  }
  if (node.type === "CatchClause" && node.param) boundNames(node.param).forEach((name) => names.add(name));
  for (const child of childNodes(node)) {
    if (child.type === "VariableDeclaration" && child.kind !== "var") {
      for (const { id } of child.declarations) boundNames(id).forEach((name) => names.add(name));
    }
    addLocals(child, names);
  }
}

interface Kept {
  readonly names: readonly string[];
  readonly suffix: string;
}

function localEdits(loop: AnyNode, kept: Kept): SourceEdit[] {
  const { names, suffix } = kept;
  const all = names.join(","), outside = names.map((name) => name + suffix);
  const numbers = `${NUMBERS}${suffix}`, put = `put${suffix}`, list = `list${suffix}`;
  const back = names.map((name) => `${name}=${name}${suffix};`).join("");
  const begin = `{const ${list}=${numbers}.list,${put}=(${outside.join(",")})=>{${back}${list}[0]=1};` +
    `let ${names.map((name) => `${name}${suffix}=${name}`).join(",")};` +
    `{let ${names.map((name) => `${name}=${name}${suffix}`).join(",")};${numbers}.names="${all}";${note(kept)};try{`;
  return [
    { start: loop.start, end: loop.start, text: begin },
    ...roundEdits(loop, kept),
    { start: loop.end, end: loop.end, text: `}finally{${put}(${all});${numbers}.names=""}}}` },
  ];
}

/** Writes the numbers after a 0. If some values are not numbers, all values are written back to their variables, and a
 * 1 marks that. Measured: this costs a fifth of a round that only adds; a variable that remembers the kind would cost
 * half of one. */
function note({ names, suffix }: Kept): string {
  const are = names.map((name) => `typeof ${name}==="number"`).join("&&");
  const store = names.map((name, i) => `,list${suffix}[${i + 1}]=${name}`).join("");
  return `(${are}?(list${suffix}[0]=0${store}):put${suffix}(${names.join(",")}))`;
}

function isList({ type }: AnyNode): boolean {
  return type === "BlockStatement" || type === "SwitchCase";
}

/** Before a statement that contains a call. */
function callEdits({ start, end }: AnyNode, kept: Kept & { readonly inList: boolean }): SourceEdit[] {
  const before = { start, end: start, text: `${kept.inList ? ";" : "{"}${note(kept)};` };
  return kept.inList ? [before] : [before, { start: end, end, text: "}" }];
}

/** After every round of this loop and nested ones. */
function roundEdits(node: AnyNode, kept: Kept): SourceEdit[] {
  const inner = childNodes(node).flatMap((child) => [
    ...roundEdits(child, kept),
    ...isCalling(child) ? callEdits(child, { ...kept, inList: isList(node) }) : [],
  ]);
  const at = (start: number, text: string): SourceEdit => ({ start, end: start, text });
  switch (node.type) {
    case "ForStatement":
      if (node.update) return [...inner, at(node.update.start, "("), at(node.update.end, `),${note(kept)}`)];
      return [at(node.body.start, "{"), ...inner, at(node.body.end, `;${note(kept)}}`)];
    case "WhileStatement":
    case "ForOfStatement":
    case "ForInStatement":
      return [at(node.body.start, "{"), ...inner, at(node.body.end, `;${note(kept)}}`)];
    default:
      return inner;
  }
}
