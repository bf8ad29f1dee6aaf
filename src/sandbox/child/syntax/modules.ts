/** What plain JavaScript modules import, export and use. */
import { type AnyNode, type ExportDefaultDeclaration, type ExportNamedDeclaration, parse, type Program } from "acorn";
import { awaits, boundNames, childNodes, freeIdentifiers } from "./analysis.ts";
import { applyEdits, type SourceEdit } from "./position_map.ts";

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

/** Names that a plain JavaScript module uses, and that neither it nor the platform defines. A name that is only an
 * operand of `typeof` counts as asked for. */
export function undefinedNames(code: string): readonly { readonly name: string; readonly line: number }[] {
  const program = parse(code, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true, locations: true });
  const imported = new Set(
    program.body.flatMap((node) =>
      node.type === "ImportDeclaration" ? node.specifiers.map(({ local }) => local.name) : []
    ),
  );
  const asked = new Set(operandsOfTypeof(program));
  const found = new Map<string, { readonly name: string; readonly line: number }>();
  for (const node of freeIdentifiers(withoutModuleSyntax(program))) {
    const { name, start, loc } = node;
    if (imported.has(name) || name in globalThis || asked.has(start) || found.has(name)) continue;
    found.set(name, { name, line: loc?.start.line ?? 1 });
  }
  return [...found.values()];
}

/** What the module declares and evaluates, without imports and lists of exports. */
function withoutModuleSyntax(program: Program): Program {
  const body = program.body.flatMap((node): Program["body"] => {
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
        return [];
      case "ExportNamedDeclaration":
        if (node.declaration) return [node.declaration];
        return node.source
          ? []
          : node.specifiers.flatMap(({ local }) => local.type === "Identifier" ? [used(local)] : []);
      case "ExportDefaultDeclaration": {
        const { declaration: own } = node;
        return own.type === "FunctionDeclaration" || own.type === "ClassDeclaration" ? [own as never] : [used(own)];
      }
      default:
        return [node];
    }
  });
  const { type, sourceType, start, end } = program;
  return { type, sourceType, start, end, body };
}

function used(expression: AnyNode): Program["body"][number] {
  const { start, end } = expression;
  return { type: "ExpressionStatement", expression, start, end } as Program["body"][number];
}

function operandsOfTypeof(node: AnyNode): readonly number[] {
  const own = node.type === "UnaryExpression" && node.operator === "typeof" ? [node.argument.start] : [];
  return [...own, ...childNodes(node).flatMap(operandsOfTypeof)];
}
