/** Text with two readings: as JavaScript or TypeScript, as a module or as the script that a block runs as. */
import { type AnyNode, type Options, parse, type Token } from "acorn";
import { childNodes } from "../syntax/analysis.ts";
import { applyEdits } from "../syntax/edits.ts";
import type { PositionMap } from "../syntax/position_map.ts";

/** `f<T>(x)` and `new Set<string>(list)` are comparisons in JavaScript and calls in TypeScript. A block is TypeScript. */
export function hasTypeArguments(program: AnyNode, js: string): boolean {
  return js.includes("<") && />\s*[(`]/.test(js) && compared(program, js);
}

function compared(node: AnyNode, js: string): boolean {
  if (node.type === "BinaryExpression" && node.operator === ">") {
    const { left, right } = node;
    const called = right.type === "TemplateLiteral" || js.slice(left.end, right.start).includes("(");
    if (called && left.type === "BinaryExpression" && left.operator === "<" && js[left.start] !== "(") return true;
  }
  return childNodes(node).some((child) => compared(child, js));
}

/** `a <!--b` is three operators in a module and a comment in a script. A space preserves the parser's reading. Null if
 * there is none. */
export function spacedComments(
  js: string,
  options: Options,
): { readonly text: string; readonly map: PositionMap } | null {
  if (!js.includes("<!--")) return null;
  const tokens: Token[] = [];
  parse(js, { ...options, onToken: tokens });
  const edits = tokens.flatMap(({ start, end }) =>
    end - start === 1 && js.startsWith("<!--", start) ? [{ start: end, end, text: " " }] : []
  );
  return edits.length > 0 ? applyEdits(js, edits) : null;
}
