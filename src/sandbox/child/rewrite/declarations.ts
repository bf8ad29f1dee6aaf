import type { AnyNode, Comment, Expression, Program, Statement, VariableDeclaration } from "acorn";
import { awaits, boundNames, childNodes, freeNames, isClass, isFunction } from "../syntax/analysis.ts";
import { LANGUAGE_NAMES } from "../syntax/language_names.ts";
import { codeOnly } from "../syntax/code_only.ts";
import { freeSuffix } from "../syntax/free_suffix.ts";
import { enumKeys, type Filling, fillingsOf } from "./enum_objects.ts";

/** A name to which a block gives a value at its top level. */
export interface Declaration {
  readonly name: string;
  readonly declaration: "const" | "let" | "var" | "function" | "class" | "enum" | "namespace";
  /** First line of the comment right before the statement, at most 80 characters. */
  readonly doc: string;
  /** JavaScript that evaluates to it if it is a function, class, enum or namespace written here, else "". */
  readonly source: string;
  /** The statement, at most 500 characters. */
  readonly statement: string;
  /** Names that the function, class or initial value refers to, without those of the language. */
  readonly requires: readonly string[];
  /** For an enum or namespace that may extend what an earlier block declared: what it adds. Its source then ends in
   * `({})`, which is replaced by the object to extend. */
  readonly adds?: readonly string[];
  /** For an alias: `import B = A.B`. */
  readonly isAlias?: true;
}

export interface ParsedText {
  readonly program: Program;
  /** The JavaScript text to which the program's offsets refer. */
  readonly js: string;
  readonly comments: readonly Comment[];
  /** What was parsed, including types. */
  readonly typed: string;
  /** Top-level namespaces with their exports. */
  readonly namespaces: ReadonlyMap<string, readonly string[]>;
}

const MAX_STATEMENT = 500, MAX_DOC = 80;

/** What a block declares at its top level, including `var` in nested blocks and loops, once per name. */
export function topLevelDeclarations(text: ParsedText): Declaration[] {
  const found = new Map<string, Declaration>();
  for (const node of text.program.body) {
    for (const one of declarationsOf(node, text)) {
      found.delete(one.name); // the last declaration and its position count
      found.set(one.name, one);
    }
  }
  for (const [name, fillings] of fillingsOf(text.program)) {
    const declared = found.get(name);
    if (declared) found.set(name, filled(declared, { fillings, text }));
  }
  for (const one of aliases(found, text)) found.set(one.name, one);
  return [...found.values()];
}

/** `import B = A.B`, which the stripper writes as `const B = A.B`: its target is found by that name. */
function aliases(found: ReadonlyMap<string, Declaration>, { typed }: ParsedText): Declaration[] {
  return [...codeOnly(typed).matchAll(/(?<![\w$.])import\s+([\w$]+)\s*=\s*([\w$.\s]+)/g)].flatMap((match) => {
    const [, name = "", path = ""] = match;
    const source = path.replace(/(?<!\.)\s+(?!\s*\.)[\s\S]*$/, "").replace(/\s/g, "");
    const declared = found.get(name);
    if (declared?.statement.replace(/[\s;]/g, "") !== `const${name}=${source}`) return [];
    return [{ ...declared, declaration: "namespace" as const, source, isAlias: true as const }];
  });
}

/** An enum or namespace, and the class or function that it extends. */
function filled(
  declared: Declaration,
  { fillings, text }: { readonly fillings: readonly Filling[]; readonly text: ParsedText },
): Declaration {
  const { name, declaration: base } = declared;
  const fills = fillings.map(({ fill }) => text.js.slice(fill.start, fill.end));
  const exported = text.namespaces.get(name);
  const declaration = exported ? "namespace" : "enum";
  const begun = base === "function" || base === "class" ? declared.source : "{}";
  const required = fillings.flatMap(({ fill }) => freeNames(fill));
  const keys = fillings.flatMap(enumKeys);
  const object = `object${freeSuffix(text.js)}`;
  const isMixed = exported && (begun !== "{}" || fillings.some((one) => enumKeys(one).length > 0));
  const adds = isMixed ? null : exported ?? (eachBegins(name, text.typed) ? keys : null);
  return {
    ...declared,
    declaration,
    source: begun === ""
      ? ""
      : `(${object}=>(${fills.map((fill) => `(${fill})(${object}),`).join("")}${object}))(${begun})`,
    statement: `${declaration} ${name}`,
    requires: [...new Set([...declared.requires, ...required])].filter((one) =>
      one !== name && !LANGUAGE_NAMES.has(one)
    ),
    ...adds && { adds },
  };
}

/** Only an enum whose first member has a value can extend another one. */
function eachBegins(name: string, typed: string): boolean {
  const found = [...codeOnly(typed).matchAll(/\benum\s+([\w$]+)\s*\{\s*[\w$]*\s*(=?)/g)];
  return found.every(([, one, value]) => one !== name || value === "=");
}

/** Assignments to names at the top level, declared here or not: `f = () => 1`. */
export function topLevelAssignments(text: ParsedText): Declaration[] {
  return text.program.body.flatMap((node) => {
    if (node.type !== "ExpressionStatement" || node.expression.type !== "AssignmentExpression") return [];
    const { left, right, operator } = node.expression;
    if (left.type !== "Identifier" || operator !== "=") return [];
    return [describe({ name: left.name, declaration: "let", value: right, node }, text)];
  });
}

/** The variable that the last statement sets; null if it does something else. */
export function declaredLast(program: Program): string | null {
  const last = program.body.findLast((node) => node.type !== "EmptyStatement");
  if (last?.type !== "VariableDeclaration" || !["const", "let", "var"].includes(last.kind)) return null;
  const { id, init } = last.declarations.at(-1) ?? {};
  return init && id?.type === "Identifier" ? id.name : null;
}

/** Whether the last statement is an expression whose value is looked at, and whether that is what a call returns. */
export function askedLast(program: Program): "call" | "value" | null {
  const last = program.body.findLast((node) => node.type !== "EmptyStatement");
  if (last?.type !== "ExpressionStatement") return null;
  const { expression } = last;
  const asked = expression.type === "AwaitExpression" ? expression.argument : expression;
  if (asked.type !== "CallExpression") return "value";
  const { callee } = asked;
  return callee.type === "Identifier" && callee.name === "answer" ? null : "call"; // it never gives a value
}

function declarationsOf(node: Program["body"][number], text: ParsedText): Declaration[] {
  if (node.type === "FunctionDeclaration") {
    return [describe({ name: node.id.name, declaration: "function", value: node, node }, text)];
  }
  if (node.type === "ClassDeclaration") {
    return [describe({ name: node.id.name, declaration: "class", value: node, node }, text)];
  }
  if (node.type === "VariableDeclaration") return variablesOf(node, text);
  return nestedVars(node).flatMap((one) => variablesOf(one, text, node));
}

function variablesOf(node: VariableDeclaration, text: ParsedText, statement: AnyNode = node): Declaration[] {
  const { kind } = node;
  if (kind !== "const" && kind !== "let" && kind !== "var") return []; // `using` ends with the block
  return node.declarations.flatMap((one) => {
    const value = one.id.type === "Identifier" ? one.init ?? one : one;
    return boundNames(one.id).map((name) => describe({ name, declaration: kind, value, node: statement }, text));
  });
}

/** `var` declarations inside a statement, without those in functions and classes. */
export function nestedVars(node: AnyNode): VariableDeclaration[] {
  const found: VariableDeclaration[] = [];
  addNestedVars(node, found);
  return found;
}

function addNestedVars(node: AnyNode, found: VariableDeclaration[]): void {
  if (isFunction(node) || isClass(node)) return;
  if (node.type === "VariableDeclaration" && node.kind === "var") found.push(node);
  else for (const child of childNodes(node)) addNestedVars(child, found);
}

interface Found {
  readonly name: string;
  readonly declaration: Declaration["declaration"];
  /** The expression that produces its value. */
  readonly value: AnyNode;
  readonly node: AnyNode;
}

function describe({ name, declaration, value, node }: Found, text: ParsedText): Declaration {
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
  // a class whose heritage or keys await something cannot be evaluated separately
  return isFunction(value) || (isClass(value) && !awaits(value)) ? js.slice(value.start, value.end) : "";
}

/** The comment must be on its own lines directly above the statement; uses its first line with text. */
function docBefore(node: AnyNode, { js, comments }: ParsedText): string {
  let end = node.start, first: Comment | null = null;
  for (let i = lastBefore(comments, end); i >= 0; i--) {
    const comment = comments[i]!;
    if (!/^[^\S\n]*\n?[^\S\n]*$/.test(js.slice(comment.end, end))) break;
    if (js.slice(js.lastIndexOf("\n", comment.start - 1) + 1, comment.start).trim() !== "") break;
    first = comment;
    end = comment.start;
    if (comment.type === "Block") break;
  }
  const lines = (first?.value ?? "").split("\n").map((line) => line.replace(/^[\s*]+|[\s*]+$/g, ""));
  const line = lines.find((one) => one !== "") ?? "";
  return line.length > MAX_DOC ? `${line.slice(0, MAX_DOC - 1)}…` : line;
}

/** The index of the last comment that ends before an offset; -1 if there is none. */
function lastBefore(comments: readonly Comment[], offset: number): number {
  let low = 0, high = comments.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comments[middle]!.end <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
