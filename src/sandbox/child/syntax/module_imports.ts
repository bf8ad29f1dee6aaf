import { type AnyNode, parse } from "acorn";
import { childNodes } from "./analysis.ts";

/** A specifier in a module, with the position of its quotes. */
export interface ModuleImport {
  readonly specifier: string;
  readonly start: number;
  readonly end: number;
}

/** The literal imports of a plain JavaScript module, in order. Throws SyntaxError if the text is not a module. */
export function moduleImports(code: string): readonly ModuleImport[] {
  const program = parse(code, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true });
  return importsIn(program).toSorted((a, b) => a.start - b.start);
}

function importsIn(node: AnyNode): ModuleImport[] {
  const source = "source" in node ? node.source : null;
  const own = typeof source === "object" && source?.type === "Literal" && typeof source.value === "string"
    ? [{ specifier: source.value, start: source.start, end: source.end }]
    : [];
  return [...own, ...childNodes(node).flatMap(importsIn)];
}
