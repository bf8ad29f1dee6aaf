import { messageOf } from "../../domain/errors.ts";
import { awaits, boundNames, childNodes, freeIdentifiers } from "../child/compiler/analysis.ts";
import { applyEdits, type SourceEdit } from "../child/compiler/positions.ts";
import { type ScriptSource, scriptValue } from "../child/scripts.ts";
import type { transform } from "sucrase";
import { type AnyNode, type ExportDefaultDeclaration, type ExportNamedDeclaration, parse, type Program } from "acorn";

interface ModuleSource {
  readonly code: string;
  readonly imports: readonly ModuleImport[];
}

export function moduleReader(): (source: string, path: string) => ModuleSource {
  const stripTypes = typeStripper();
  return (source, path) => {
    const code = stripTypes(source, path);
    return { code, imports: moduleImports(code) };
  };
}

const MAX_MODULE_CHARS = 1 << 20;

export function realmModuleReader(): (source: string, path: string) => string {
  const stripTypes = typeStripper();
  return (source, path) => {
    if (source.length > MAX_MODULE_CHARS) {
      throw new Error(`It has ${source.length} characters; the limit is ${MAX_MODULE_CHARS} characters`);
    }
    return moduleScript(stripTypes(source, path));
  };
}

function typeStripper(): (source: string, path: string) => string {
  const sucrase = sucraseLoader({ text: sucraseText() });
  return (source, path) => {
    if (!/\.[mc]?ts$/.test(path)) return source;
    try {
      return sucrase()(source, { transforms: ["typescript"], disableESTransforms: true, filePath: path }).code;
    } catch (error) {
      throw atLine(error, path);
    }
  };
}

function atLine(error: unknown, path: string): unknown {
  // deno-lint-ignore vis/no-message-parsing -- there is no other text of the fault
  const [, what, line] = /^Error transforming .*?: (.*?)\s*\((\d+):\d+\)$/s.exec(messageOf(error)) ?? [];
  return what === undefined ? error : new SyntaxError(`${what} (${path}:${line})`);
}

/** An executable has the script next to this file. From source, the built file is relative to this folder or to a
 * bundle of the program. */
const SUCRASE = ["./sucrase.js", "../../../build/sandbox/sucrase.js", "../sandbox/sucrase.js"];

export function sucraseText(): string {
  for (const path of SUCRASE) {
    try {
      return Deno.readTextFileSync(new URL(path, import.meta.url));
    } catch { /* The script may be at the next place. */ }
  }
  throw new Error("Cannot strip types: Vis cannot read sucrase.js; run bin/deno task build");
}

type SucraseTransform = typeof transform;

export function sucraseLoader(script: ScriptSource): () => SucraseTransform {
  let loaded: SucraseTransform | null = null;
  return () => loaded ??= evaluate(script);
}

function evaluate(script: ScriptSource): SucraseTransform {
  const found = scriptValue(script, { name: "sandbox.sucrase" });
  if (!isTransform(found)) throw new TypeError("Cannot strip types: the bundle of sucrase does not return a function");
  return found;
}

function isTransform(value: unknown): value is SucraseTransform {
  return typeof value === "function";
}

interface ModuleImport {
  readonly specifier: string;
  readonly start: number;
  readonly end: number;
}

function moduleImports(code: string): readonly ModuleImport[] {
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

/** This name holds a default export that has no name. */
const DEFAULT = "default\u200d";

function moduleScript(code: string): string {
  const program = parse(code, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true });
  const fault = faultOf(program);
  if (fault !== null) throw new Error(fault);
  const exports = new Exports();
  for (const node of program.body) exports.take(node);
  const { text } = applyEdits(code.replace(/^#!/, "//"), exports.edits);
  if (exports.fault !== null) throw new Error(exports.fault);
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
  readonly #names = new Map<string, string>();
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
    // The declaration is now an expression, which the next line would continue.
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

/** An operand of `typeof` does not count. */
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

interface Fault {
  readonly line: number;
  readonly message: string;
}

const KINDS = ["module", "commonjs", "script"] as const;
/** The stripper does not read JSX names with a dash after the colon: `<a:b-c d:e-f={1}/>`. */
const DASHED = /([\w$]:[\w$]+)((?:-+[\w$]+)+)/g;
/** The parsers accept this letter in names, and it looks like a dash. */
const DASH = "\ua7f7";

/** No parser knows every version of the language. A fault therefore counts only if all parsers report a fault, or if a
 * name is declared twice. */
export function moduleTextFault(path: string, text: string, loadSucrase: () => SucraseTransform): Fault | null {
  const isTyped = /\.[cm]?tsx?$/i.test(path);
  const plain = isTyped ? null : scriptFault(text);
  // The parsers also do not read imports with `defer` or `source`.
  text = text.replace(DASHED, (_, name: string, rest: string) => name + rest.replaceAll("-", DASH));
  text = text.replace(/^(\s*import\s+)(?:defer|source)(?=\s+[*\w{])(?!\s+from\b)/gm, "$1");
  if (!isTyped && plain === null) return null;
  // A file of JSX may be right although it is not JavaScript.
  const faults: Fault[] = plain === null || /x$/i.test(path) ? [] : [plain];
  const all = isTyped ? [/x$/i.test(path) ? ["typescript", "jsx"] as const : ["typescript"] as const] : [
    ["jsx"] as const,
    ["jsx", "flow"] as const,
    ["jsx", "typescript"] as const,
  ];
  for (const transforms of all) {
    let code = "";
    const found = strippedFault(
      text,
      () => code = loadSucrase()(text, { transforms: [...transforms], disableESTransforms: true }).code,
    );
    if (found === null) return declaredTwice(code);
    faults.push(found);
  }
  return faults.reduce<Fault | null>((last, one) => one.line > (last?.line ?? 0) ? one : last, null);
}

/** The stripper does not detect two declarations of a name. Its code may be newer than the other parser, so other
 * errors do not count. */
function declaredTwice(code: string): Fault | null {
  const faults = scriptFaults(code);
  const isTwice = faults.every((one) => /^Identifier '.*' has already been declared$/.test(one?.message ?? ""));
  return isTwice ? faults[0] ?? null : null;
}

function scriptFault(text: string): Fault | null {
  return scriptFaults(text).find((one) => one !== null) ?? null;
}

function scriptFaults(text: string): readonly (Fault | null)[] {
  const faults: (Fault | null)[] = [];
  for (const sourceType of KINDS) {
    try {
      parse(text, { ecmaVersion: "latest", sourceType, allowHashBang: true });
      return [];
    } catch (error) {
      if (!(error instanceof SyntaxError)) return []; // The text is nested too deeply to be read.
      faults.push(textFaultOf(error));
    }
  }
  return faults;
}

function strippedFault(text: string, run: () => unknown): Fault | null {
  try {
    run();
    return null;
  } catch (error) {
    const found = error instanceof Error && !(error instanceof RangeError) ? textFaultOf(error) : null;
    return found !== null && found.line <= text.split("\n").length ? found : null;
  }
}

function textFaultOf({ message }: Error): Fault | null {
  // deno-lint-ignore vis/no-message-parsing -- there is no other text of the fault
  const [, what, line] = /^(?:Error transforming .*?: )?(.*?)\s*\((\d+):\d+\)$/s.exec(message) ?? [];
  return what === undefined ? null : { line: Number(line), message: what.replaceAll(DASH, "-") };
}
