// Thin stand-in until the transformer is here.
import { parse } from "acorn";
import type { BlockError } from "../../domain/block_result.ts";
import type { SucraseTransform } from "./sucrase_loader.ts";

export interface Declaration {
  readonly name: string;
  readonly declaration: string;
  readonly doc: string;
  readonly source: string;
  readonly statement: string;
}
export type PreparedBlock =
  | {
    readonly ok: true;
    readonly code: string;
    readonly isAsync: boolean;
    readonly declarations: readonly Declaration[];
    readonly reads: readonly string[];
    readonly literal: boolean;
    readonly repaired: string | null;
  }
  | { readonly ok: false; readonly outcome: "refused"; readonly error: BlockError; readonly repaired: string | null };

export function prepareBlock(source: string, options: { readonly loadSucrase: () => SucraseTransform }): PreparedBlock {
  let js = source;
  const opts = { ecmaVersion: "latest", sourceType: "module", allowAwaitOutsideFunction: true } as const;
  try {
    try {
      parse(js, opts);
    } catch {
      js = options.loadSucrase()(source, { transforms: ["typescript"], disableESTransforms: true }).code;
    }
    const ast = parse(js, opts);
    const declarations: Declaration[] = [];
    let out = "", at = 0;
    for (const n of ast.body) {
      out += js.slice(at, n.start);
      const text = js.slice(n.start, n.end);
      if (n.type === "VariableDeclaration") {
        for (const d of n.declarations) {
          if (d.id.type === "Identifier") {
            declarations.push({ name: d.id.name, declaration: n.kind, doc: "", source: text, statement: text });
          }
        }
        out += `;(${js.slice(n.declarations[0]!.start, n.end).replace(/;$/, "")});`;
      } else if (n.type === "FunctionDeclaration") {
        declarations.push({ name: n.id.name, declaration: "function", doc: "", source: text, statement: text });
        out += `${n.id.name}=${text};`;
      } else if (n === ast.body.at(-1) && n.type === "ExpressionStatement") {
        out += `;return (${text.replace(/;$/, "")});`;
      } else out += text;
      at = n.end;
    }
    const isAsync = /\bawait\b/.test(js);
    const code = `"use strict";(${isAsync ? "async " : ""}function(){${out}\n})()`;
    return { ok: true, code, isAsync, declarations, reads: [], literal: false, repaired: null };
  } catch (e) {
    const message = e instanceof Error ? e.message : String(e);
    const error = { name: "SyntaxError", message, line: null, column: null, excerpt: "", stack: "" };
    return { ok: false, outcome: "refused", error, repaired: null };
  }
}
