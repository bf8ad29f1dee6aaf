import { type Node, parse } from "acorn";

/** A specifier in a module, with the position of its quotes. */
export interface ModuleImport {
  readonly specifier: string;
  readonly start: number;
  readonly end: number;
}

/** The literal imports of a plain JavaScript module, in order. Throws SyntaxError if the text is not a module. */
export function moduleImports(code: string): readonly ModuleImport[] {
  const found: ModuleImport[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) { for (const item of value) visit(item); }
    else if (isNode(value)) {
      const source: unknown = Reflect.get(value, "source");
      if (/^Import|^Export/.test(value.type) && isNode(source)) {
        const specifier: unknown = Reflect.get(source, "value");
        if (typeof specifier === "string") found.push({ specifier, start: source.start, end: source.end });
      }
      for (const child of Object.values(value)) visit(child);
    }
  };
  visit(parse(code, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true }));
  return found.sort((a, b) => a.start - b.start);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" &&
    "start" in value;
}
