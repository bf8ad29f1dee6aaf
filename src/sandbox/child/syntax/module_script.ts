import { type AnyNode, type ExportDefaultDeclaration, type ExportNamedDeclaration, parse, type Program } from "acorn";
import { awaits, boundNames, childNodes } from "./analysis.ts";
import { applyEdits, type SourceEdit } from "./edits.ts";

/** A name that no module uses, for a default export without a name. */
const DEFAULT = "default\u200d";

/** Turns a self-contained plain JavaScript module into a script whose value is its default export, or an object without
 * prototype of its named exports. Line numbers do not change. Throws Error if the module imports, awaits at its top
 * level, exports nothing, or has both default and named exports. */
export function moduleScript(code: string, path: string): string {
  const program = parse(code, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true });
  const fault = faultOf(program);
  if (fault !== null) throw new Error(`Cannot use module ${path}: ${fault}`);
  const exports = new Exports();
  for (const node of program.body) exports.take(node);
  const { text } = applyEdits(code.replace(/^#!/, "//"), exports.edits);
  if (exports.fault !== null) throw new Error(`Cannot use module ${path}: ${exports.fault}`);
  return `(function () { "use strict"; ${text}\nreturn (${exports.value});\n})()`;
}

function faultOf(program: Program): string | null {
  for (const node of program.body) {
    if ("source" in node && node.source) return `it imports ${node.source.raw}; it must stand alone`;
    if (awaits(node)) return "it waits at its top level";
  }
  return nestedFault(program);
}

function nestedFault(node: AnyNode): string | null {
  if (node.type === "ImportExpression") return "it uses import(); it must stand alone";
  if (node.type === "MetaProperty" && node.meta.name === "import") return "it uses import.meta";
  for (const child of childNodes(node)) {
    const fault = nestedFault(child);
    if (fault !== null) return fault;
  }
  return null;
}

class Exports {
  readonly edits: SourceEdit[] = [];
  /** Exported name to the expression that returns it. */
  readonly #names = new Map<string, string>();
  /** Names that the module may reassign later. */
  readonly #live = new Set<string>();

  take(node: Program["body"][number]): void {
    if (node.type === "ExportDefaultDeclaration") this.#default(node);
    if (node.type === "ExportNamedDeclaration") this.#named(node);
    if (node.type !== "VariableDeclaration" || node.kind !== "let") return;
    for (const one of node.declarations) for (const name of boundNames(one.id)) this.#live.add(name);
  }

  get fault(): string | null {
    if (this.#names.size === 0) return "it exports nothing";
    const isMixed = this.#names.has("default") && this.#names.size > 1;
    return isMixed ? "it exports a default beside others; export one or the other" : null;
  }

  /** An expression for what the module exports. */
  get value(): string {
    const fields = [...this.#names].map(([name, local]) => {
      const key = JSON.stringify(name);
      return this.#live.has(local) ? `get ${key}() { return ${local}; }` : `[${key}]: ${local}`;
    });
    return this.#names.get("default") ?? `{ __proto__: null, ${fields.join(", ")} }`;
  }

  #default({ start, declaration }: ExportDefaultDeclaration): void {
    const isNamed = (declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration") &&
      declaration.id;
    this.#names.set("default", isNamed ? isNamed.name : DEFAULT);
    this.edits.push({ start, end: declaration.start, text: isNamed ? "" : `const ${DEFAULT} = ` });
    // A former declaration is now an expression, which the next line would continue.
    if (!isNamed) this.edits.push({ start: declaration.end, end: declaration.end, text: ";" });
  }

  #named({ start, end, declaration, specifiers }: ExportNamedDeclaration): void {
    if (!declaration) {
      this.edits.push({ start, end, text: ";" });
      for (const { local, exported } of specifiers) this.#names.set(nameOf(exported), nameOf(local));
      return;
    }
    this.edits.push({ start, end: declaration.start, text: "" });
    if (declaration.type !== "VariableDeclaration") {
      return void this.#names.set(declaration.id.name, declaration.id.name);
    }
    for (const name of declaration.declarations.flatMap((one) => boundNames(one.id))) {
      this.#names.set(name, name);
      if (declaration.kind === "let") this.#live.add(name);
    }
  }
}

function nameOf(node: ExportNamedDeclaration["specifiers"][number]["local"]): string {
  return node.type === "Identifier" ? node.name : String(node.value);
}
