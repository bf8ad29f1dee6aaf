import type { AnyNode, ExpressionStatement, FunctionDeclaration, Program, VariableDeclaration } from "acorn";
import { awaits, boundNames, childNodes, isClass, isFunction } from "../syntax/analysis.ts";
import { nestedVars } from "./declarations.ts";
import { applyEdits, type SourceEdit } from "../syntax/edits.ts";
import { earlyNameEdits } from "./early_names.ts";
import { freeSuffix } from "../syntax/free_suffix.ts";
import { fillingOf } from "./enum_objects.ts";
import { calledBefore, replacedFunctions, valueStatement } from "./hoist.ts";
import { loopEdits, NUMBERS } from "./loops.ts";
import type { PositionMap } from "../syntax/position_map.ts";

type TopLevel = Program["body"][number];

export interface RewriteOptions {
  /** The text from which the program was parsed. */
  readonly js: string;
  /** Whether a function of this block or an earlier one may refer to a name. */
  readonly isSeen: (name: string) => boolean;
}

export interface Rewritten {
  readonly code: string;
  /** Whether the block's own code awaits something. */
  readonly awaits: boolean;
  /** From `code` to the text from which the program was parsed. */
  readonly map: PositionMap;
}

/** Turns a program into a script whose value is a function that runs the block: top-level declarations become
 * assignments to existing global properties, and the last expression is returned. Lines do not change, nor do columns
 * if the language allows it: `const x` becomes `      x`, `function f(` becomes `f=function(`. */
export function rewriteTopLevel(program: Program, { js, isSeen }: RewriteOptions): Rewritten {
  const isAsync = program.body.some(awaits);
  const writer = new Rewriter(program, { js, isSeen });
  const { text, map } = applyEdits(js, writer.edits());
  const header = `"use strict";(${isAsync ? "async " : ""}function(${writer.params}){${writer.header}`;
  return { code: `${header}${text}\n})`, awaits: isAsync, map: map.map((n, i) => i % 3 === 0 ? n + header.length : n) };
}

/** The enum or namespace that a declaration belongs to: `var A; (function (A) {…})(A || (A = {}));`. */
function filledName(node: TopLevel, next: TopLevel | undefined): string | null {
  if (node.type !== "VariableDeclaration" || node.kind !== "var") return null;
  const [only] = node.declarations;
  if (!only || only.init || only.id.type !== "Identifier") return null;
  return fillingOf(next)?.name === only.id.name ? only.id.name : null;
}

/** Names that a block declares only as variables. */
function variablesOf(program: Program): ReadonlySet<string> {
  const all = program.body.flatMap((node) => node.type === "VariableDeclaration" ? [node] : nestedVars(node));
  const names = new Set(
    all.flatMap(({ kind, declarations }) =>
      kind === "const" || kind === "let" || kind === "var" ? declarations.flatMap(({ id }) => boundNames(id)) : []
    ),
  );
  for (const node of program.body) {
    if (node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") names.delete(node.id.name);
  }
  return names;
}

class Rewriter {
  readonly #program: Program;
  readonly #js: string;
  readonly #edits: SourceEdit[] = [];
  readonly #early: ReadonlySet<FunctionDeclaration>;
  /** Names that the block has declared so far: enums, namespaces and what these may extend. */
  readonly #filled = new Set<string>();
  /** Statements that run before the block's first one. */
  header = "";
  readonly #isSeen: (name: string) => boolean;
  readonly #declared: ReadonlySet<string>;
  readonly #suffix: string;
  #usesParams = false;

  constructor(program: Program, { js, isSeen }: RewriteOptions) {
    this.#program = program;
    this.#js = js;
    this.#early = calledBefore(program);
    this.#isSeen = isSeen;
    this.#suffix = freeSuffix(js);
    this.#declared = variablesOf(program);
  }

  /** Parameters of the block's function: which of its enums and namespaces extend those of earlier blocks, which are
   * filled, and where its loops write numbers. */
  get params(): string {
    return this.#usesParams
      ? `${this.#extended},${NUMBERS}${this.#suffix},made${this.#suffix},fail${this.#suffix}`
      : "";
  }

  /** Called with each declared function and its name, which its text here lacks. */
  get #made(): string {
    this.#usesParams = true;
    return `made${this.#suffix}`;
  }

  get #extended(): string {
    this.#usesParams = true;
    return `extended${this.#suffix}`;
  }

  edits(): readonly SourceEdit[] {
    const { body } = this.#program;
    const last = valueStatement(this.#program);
    const replaced = replacedFunctions(this.#program);
    body.forEach((node, i) => {
      const filled = filledName(node, body[i + 1]);
      if (node.type === "ImportDeclaration" || replaced.has(node)) this.#blank(node);
      else if (node.type === "VariableDeclaration") this.#variables(node, { inList: true, filled });
      else if (node.type === "FunctionDeclaration") this.#function(node);
      else if (node.type === "ClassDeclaration") {
        this.#filled.add(node.id.name);
        this.#insert(node.start, `${node.id.name}=`);
        this.#insert(node.end, ";");
      } else if (node.type === "ExpressionStatement" && i === last && !fillingOf(node)) {
        this.#value(node, body[i - 1]?.end ?? 0);
      } else {
        this.#loops(node);
        this.#nested(node);
        this.#note(node);
      }
    });
    const early = earlyNameEdits(this.#program, `fail${this.#suffix}`);
    if (early.length > 0) this.#usesParams = true;
    return [...early, ...this.#edits]; // what they insert at the same place is inside
  }

  #insert(at: number, text: string): void {
    this.#edits.push({ start: at, end: at, text });
  }

  /** Removes an import of types only, or a function that another one replaces; lines are kept. */
  #blank({ start, end }: AnyNode): void {
    this.#edits.push({ start, end, text: this.#js.slice(start, end).replace(/[^\n]/g, " ") });
  }

  /** `inList`: in a list of statements, where a statement that starts with "(" needs a separator. */
  #variables(node: VariableDeclaration, how: { readonly inList: boolean; readonly filled?: string | null }): void {
    const { kind, start } = node;
    if (kind !== "const" && kind !== "let" && kind !== "var") return;
    const separate = how.inList && node.declarations[0]?.id.type !== "Identifier";
    const blank = `${separate ? ";" : " "}${" ".repeat(kind.length - 1)}`;
    this.#edits.push({ start, end: start + kind.length, text: blank });
    for (const { id, init, start: from, end } of node.declarations) {
      if (id.type !== "Identifier" && init) {
        if (this.#js[from - 1] === " ") this.#edits.push({ start: from - 1, end: from, text: "(" });
        else this.#insert(from, "(");
        this.#insert(end, ")");
      } else if (how.filled && how.filled === this.#js.slice(from, end)) this.#fill(how.filled, end);
      else if (!init && how.inList && kind !== "var") this.#insert(end, "=undefined");
    }
    if (how.inList && this.#js[node.end - 1] !== ";") this.#insert(node.end, ";");
  }

  /** A filled object starts empty in each block, unless it extends the name's existing value. */
  #fill(name: string, end: number): void {
    if (!this.#filled.has(name)) this.#insert(end, `=${this.#extended}.${name}?${name}:undefined`);
    this.#filled.add(name);
  }

  /** An object that its code did not completely fill is not known by that code. */
  #note(node: TopLevel): void {
    const name = fillingOf(node)?.name;
    if (!name || this.#program.body.findLast((other) => fillingOf(other)?.name === name) !== node) return;
    this.#insert(node.end, `;${this.#extended}.${name}="filled";`);
  }

  #function(node: FunctionDeclaration): void {
    const { id: { name, start, end } } = node;
    this.#filled.add(name);
    if (this.#early.has(node)) {
      const alias = `${name}${this.#suffix}`;
      this.#insert(end, alias.slice(name.length));
      this.header += `${name}=${alias};${this.#made}(${name},"${name}");`;
      return;
    }
    const keywords = this.#js.slice(node.start, start).replace(/[ \t]+$/, ""); // the end of a line may end a comment
    const text = `${name}=${keywords}`;
    this.#edits.push({ start: node.start, end, text: text.padEnd(end - node.start) });
    this.#insert(node.end, `;${this.#made}(${name},"${name}");`);
  }

  /** The last expression. `return (` is put on the previous line if there is room, so that columns do not change. */
  #value(node: ExpressionStatement, previousEnd: number): void {
    const gap = this.#js.slice(previousEnd, node.start);
    const before = gap.includes("\n") && !gap.includes("/");
    const start = before ? previousEnd : node.start;
    this.#edits.push({ start, end: start, text: ";return(", at: node.start });
    const closed = this.#js[node.end - 1] === ";";
    this.#insert(closed ? node.end - 1 : node.end, closed ? ")" : ");");
  }

  #loops(node: AnyNode): void {
    const suffix = this.#suffix;
    const edits = loopEdits(node, { declared: this.#declared, isSeen: this.#isSeen, suffix });
    if (edits.length > 0) this.#usesParams = true;
    this.#edits.push(...edits);
  }

  /** `var` inside a statement is a variable of the block too. */
  #nested(node: AnyNode): void {
    const vars = new Set<AnyNode>(nestedVars(node));
    if (vars.size > 0) this.#nestedIn(node, vars);
  }

  #nestedIn(node: AnyNode, vars: ReadonlySet<AnyNode>): void {
    const list = node.type === "BlockStatement" || node.type === "SwitchCase";
    const head = node.type === "ForStatement" || node.type === "ForInStatement" || node.type === "ForOfStatement";
    for (const child of childNodes(node)) {
      if (child.type !== "VariableDeclaration" || !vars.has(child)) {
        if (!isFunction(child) && !isClass(child)) this.#nestedIn(child, vars);
      } else if (head && child !== node.body) this.#variables(child, { inList: false });
      else {
        this.#variables(child, { inList: list });
        if (!list && this.#js[child.end - 1] !== ";") this.#insert(child.end, ";");
      }
    }
  }
}
