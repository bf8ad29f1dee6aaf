import { type ImportDeclaration, type ImportSpecifier, type Node, parse, type Program } from "acorn";

/** The generated code declares these variables, so no module may use their names. */
const LOAD = "__load", URL_NAME = "__url", FROM = "__from";

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** V8 keeps compiled code only for scripts, so a module of the bundle becomes a script that passes its name, imports and
 * function to `define`. V8 stores one byte for an ASCII character, so other characters become escapes if possible.
 *
 * Importers get the values that exports have after the module has run. Throws if an export could change later, and for
 * syntax that the bundler does not write. `program` is the tree of `code`. */
export function moduleScript(
  name: string,
  code: string,
  program: Program = parse(code, { ecmaVersion: "latest", sourceType: "module" }),
): string {
  if (code.includes(LOAD) || code.includes(URL_NAME) || code.includes(FROM)) {
    throw new Error(`Cannot make a script of ${name}: it uses a name that belongs to the loader`);
  }
  const edits: Edit[] = [];
  const imports: ImportDeclaration[] = [];
  const exported = new Map<string, string>();
  for (const statement of program.body) {
    if (statement.type === "ImportDeclaration") imports.push(statement);
    else if (statement.type === "ExportNamedDeclaration" && !statement.source && !statement.declaration) {
      for (const { local, exported: as } of statement.specifiers) exported.set(keyOf(as), keyOf(local));
    } else if (/^(?:Export|Import)/.test(statement.type)) throw refused(name, statement, code);
    else continue;
    edits.push({ ...statement, text: "" });
  }
  const { awaits, isRaw } = change(program, { name, code, edits, constant: new Set(exported.values()) });
  const head = imports.map((one, at) => importLine(one, FROM + at)).join("");
  const values = [...exported].map(([as, local]) => `${JSON.stringify(as)}: ${local}`);
  const parameters = [LOAD, URL_NAME, ...imports.map((_, at) => FROM + at)];
  const sources = imports.map(({ source }) => source.value);
  const script = `define(${JSON.stringify(name)}, ${JSON.stringify(sources)}, ` +
    `${awaits ? "async " : ""}function (${parameters}) {\n"use strict";\n${head}${edited(code, edits).trim()}\n` +
    `return { __proto__: null, ${values.join(", ")} };\n});\n`;
  return isRaw ? script : ascii(script);
}

function change(program: Program, { name, code, edits, constant }: {
  readonly name: string;
  readonly code: string;
  readonly edits: Edit[];
  readonly constant: ReadonlySet<string>;
}): { readonly awaits: boolean; readonly isRaw: boolean } {
  let awaits = false, isRaw = false;
  const visit = (node: Node, inFunction: boolean): void => {
    if (node.type === "ImportExpression") {
      edits.push({ start: node.start, end: node.start + "import".length, text: LOAD });
    } else if (node.type === "MetaProperty" && code.startsWith("import", node.start)) {
      const { end } = node;
      const [property = ""] = /^\.\w+/.exec(code.slice(end)) ?? [];
      const text = { ".url": URL_NAME, ".main": "false" }[property];
      if (text === undefined) throw refused(name, node, code);
      edits.push({ start: node.start, end: end + property.length, text });
    } else if (node.type === "AwaitExpression" || "await" in node && node.await === true) awaits ||= !inFunction;
    else if (inFunction && assigned(node).some((one) => constant.has(one))) throw refused(name, node, code);
    else if (node.type === "TaggedTemplateExpression") isRaw ||= /[^\0-\x7f]/.test(code.slice(node.start, node.end));
    const inside = inFunction || node.type.includes("Function");
    for (const child of childrenOf(node)) visit(child, inside);
  };
  visit(program, false);
  return { awaits, isRaw };
}

function assigned(node: Node): readonly string[] {
  if (node.type === "AssignmentExpression" && "left" in node) return namesIn(node.left as Node);
  return node.type === "UpdateExpression" && "argument" in node ? namesIn(node.argument as Node) : [];
}

function namesIn(pattern: Node): readonly string[] {
  if (pattern.type === "Identifier") return [String(Reflect.get(pattern, "name"))];
  if (pattern.type === "MemberExpression") return [];
  if (pattern.type === "Property") return namesIn(Reflect.get(pattern, "value"));
  return childrenOf(pattern).flatMap(namesIn);
}

function childrenOf(node: Node): readonly Node[] {
  const children: Node[] = [];
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) children.push(...value.filter(isNode));
    else if (isNode(value)) children.push(value);
  }
  return children;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function importLine({ source, specifiers }: ImportDeclaration, from: string): string {
  const isNode = String(source.value).startsWith("node:");
  const named: string[] = [];
  let line = "";
  for (const one of specifiers) {
    const key = one.type === "ImportSpecifier"
      ? keyOf(one.imported)
      : one.type === "ImportDefaultSpecifier"
      ? "default"
      : null;
    if (key === null || (isNode && key === "default")) line += `const ${one.local.name} = ${from};\n`;
    else named.push(`${JSON.stringify(key)}: ${one.local.name}`);
  }
  return named.length === 0 ? line : `${line}const { ${named.join(", ")} } = ${from};\n`;
}

function keyOf(node: ImportSpecifier["imported"]): string {
  return node.type === "Identifier" ? node.name : String(node.value);
}

function edited(code: string, edits: readonly Edit[]): string {
  let text = "", at = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    text += code.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return text + code.slice(at);
}

function ascii(code: string): string {
  return code.replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function refused(name: string, { start, end }: Node, code: string): Error {
  return new Error(
    `Cannot make a script of ${name}: it has unsupported code: ${code.slice(start, Math.min(end, start + 60))}`,
  );
}
