import type { AnyNode, FunctionDeclaration, Program } from "acorn";
import { freeNames } from "../syntax/analysis.ts";

/** Top-level functions that earlier code may call, directly or through other functions: these must exist from the
 * beginning. The others can be created at their position, which preserves their order. */
export function calledBefore(program: Program): ReadonlySet<FunctionDeclaration> {
  const functions = new Map<string, { readonly node: FunctionDeclaration; readonly refers: readonly string[] }>();
  for (const node of program.body) {
    if (node.type === "FunctionDeclaration") functions.set(node.id.name, { node, refers: freeNames(node) });
  }
  const early = new Set<FunctionDeclaration>();
  if (functions.size === 0) return early;
  for (const node of program.body.slice(valueStatement(program) + 1)) {
    if (node.type === "FunctionDeclaration") early.add(node); // code after `return` is not run
  }
  const reached = new Set<string>();
  for (const statement of program.body) {
    if (statement.type === "FunctionDeclaration") continue;
    const names = freeNames(statement);
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      const found = functions.get(name);
      if (!found || reached.has(name)) continue;
      reached.add(name); // a later statement that reaches it again comes even later
      if (found.node.start > statement.start) early.add(found.node);
      names.push(...found.refers);
    }
  }
  return early;
}

/** Top-level functions that a later one of the same name replaces before anything runs. */
export function replacedFunctions({ body }: Program): ReadonlySet<AnyNode> {
  const functions = body.filter((node) => node.type === "FunctionDeclaration");
  const last = new Map(functions.map((node) => [node.id.name, node]));
  return new Set(functions.filter((node) => last.get(node.id.name) !== node));
}

/** Index of the statement that provides the block's value: the last one that is not a function; it may have no value. */
export function valueStatement({ body }: Program): number {
  return body.findLastIndex((node) => node.type !== "EmptyStatement" && node.type !== "FunctionDeclaration");
}
