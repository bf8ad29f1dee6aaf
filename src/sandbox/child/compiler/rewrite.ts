import type { AnyNode, ClassDeclaration, FunctionDeclaration, Program, VariableDeclaration } from "acorn";
import { awaits, childNodes, isClass, isFunction, nestedVars } from "./analysis.ts";
import { enumOf } from "./declarations.ts";
import { applyEdits, type PositionMap, type SourceEdit } from "./positions.ts";

interface Rewritten {
  readonly code: string;
  readonly awaits: boolean;
  readonly map: PositionMap;
}

/** The value of the script is a function that runs the block. Lines do not change. After the first line, a column
 * changes only if the language requires it, so spaces replace `const`. */
export function rewriteTopLevel(program: Program, js: string): Rewritten {
  const isAsync = js.includes("await") && program.body.some(awaits);
  const writer = new Rewriter(program, js);
  const { text, map } = applyEdits(js, writer.edits());
  const header = `"use strict";(${isAsync ? "async " : ""}function(${writer.parameter}){${writer.header}`;
  return { code: `${header}${text}\n})`, awaits: isAsync, map: map.map((n, i) => i % 3 === 0 ? n + header.length : n) };
}

class Rewriter {
  readonly #program: Program;
  readonly #js: string;
  readonly #edits: SourceEdit[] = [];
  readonly #last: number;
  readonly #suffix: string;
  header = "";

  constructor(program: Program, js: string) {
    this.#program = program;
    this.#js = js;
    this.#last = program.body.findLastIndex(({ type }) => type !== "EmptyStatement" && type !== "FunctionDeclaration");
    this.#suffix = freeSuffix(js);
  }

  get parameter(): string {
    return this.header === "" ? "" : `made${this.#suffix}`;
  }

  edits(): readonly SourceEdit[] {
    const { body } = this.#program;
    const functions = body.filter((node) => node.type === "FunctionDeclaration");
    const last = new Map(functions.map((node) => [node.id.name, node]));
    const enums = new Set<string>();
    body.forEach((node, i) => {
      const name = enumOf(node, body[i + 1]);
      if (name !== null && !enums.has(name)) {
        enums.add(name);
        this.#beginEnum(body[i + 1]!);
      }
      switch (node.type) {
        case "ImportDeclaration":
          return this.#blank(node);
        case "VariableDeclaration":
          return this.#variables(node, { inList: true });
        case "FunctionDeclaration":
          return last.get(node.id.name) === node ? this.#function(node) : this.#blank(node);
        case "ClassDeclaration":
          return this.#class(node);
        case "ExpressionStatement":
          return i === this.#last ? this.#value(node, body[i - 1]?.end ?? 0) : undefined;
        default:
          return this.#nested(node);
      }
    });
    return this.#edits;
  }

  #insert(at: number, text: string): void {
    this.#edits.push({ start: at, end: at, text });
  }

  #blank({ start, end }: { readonly start: number; readonly end: number }): void {
    this.#edits.push({ start, end, text: this.#js.slice(start, end).replace(/[^\n]/g, " ") });
  }

  /** `inList` is true in a list of statements, where a separator must precede a statement that starts with "(". */
  #variables(node: VariableDeclaration, { inList }: { readonly inList: boolean }): void {
    const { kind, start } = node;
    if (kind !== "const" && kind !== "let" && kind !== "var") return;
    const separate = inList && node.declarations[0]?.id.type !== "Identifier";
    const blank = `${separate ? ";" : " "}${" ".repeat(kind.length - 1)}`;
    this.#edits.push({ start, end: start + kind.length, text: blank });
    for (const { id, init, start: from, end } of node.declarations) {
      if (id.type !== "Identifier" && init) {
        if (this.#js[from - 1] === " ") this.#edits.push({ start: from - 1, end: from, text: "(" });
        else this.#insert(from, "(");
        this.#insert(end, ")");
      } else if (!init && inList && kind !== "var") this.#insert(end, "=undefined");
    }
    if (inList && this.#js[node.end - 1] !== ";") this.#insert(node.end, ";");
  }

  /** The function gets another name, because a later block may give the declared name another value. */
  #function({ id: { name, end } }: FunctionDeclaration): void {
    this.#insert(end, this.#suffix);
    this.header += `${name}=${name}${this.#suffix};made${this.#suffix}(${name},"${name}");`;
  }

  #class({ id, start, end }: ClassDeclaration): void {
    this.#insert(start, `${id.name}=`);
    this.#insert(end, ";");
  }

  /** The first enum of a name begins with a new object, so `E || (E = {})` becomes `     (E = {})`. */
  #beginEnum(filling: AnyNode): void {
    const call = filling.type === "ExpressionStatement" ? filling.expression : null;
    const made = call?.type === "CallExpression" ? call.arguments[0] : null;
    if (made?.type !== "LogicalExpression") return;
    const { start, end } = made.left, operator = this.#js.indexOf("||", end);
    this.#blank({ start, end });
    this.#blank({ start: operator, end: operator + 2 });
  }

  /** The edit writes `return (` on the previous line if there is room, so that columns do not change. */
  #value(node: AnyNode, previousEnd: number): void {
    const gap = this.#js.slice(previousEnd, node.start);
    const before = gap.includes("\n") && !gap.includes("/");
    const start = before ? previousEnd : node.start;
    this.#edits.push({ start, end: start, text: ";return(", at: node.start });
    const closed = this.#js[node.end - 1] === ";";
    this.#insert(closed ? node.end - 1 : node.end, closed ? ")" : ");");
  }

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

const JOINER = "\u200d";

/** No name in the text ends with this suffix. A name may contain an escaped joiner (`x\u200d`). */
function freeSuffix(text: string): string {
  const plain = text.includes("\\u") ? text.replace(/\\u(?:200d|\{0*200d\})/gi, JOINER) : text;
  let longest = 0;
  for (const [run] of plain.matchAll(/\u200d+/g)) longest = Math.max(longest, run.length);
  return JOINER.repeat(longest + 1);
}
