import type { AnyNode, Expression, FunctionExpression, Identifier, Program } from "acorn";
import { isVariableName } from "../../../domain/kit/names.ts";
import { boundIdentifiers, childNodes, freeNames, isClass, isFunction, nestedVars } from "./analysis.ts";
import { CodeParser } from "./parse.ts";
import { restoredScript, type RestoredSource, SYSTEM_NAMES } from "./restored_script.ts";

interface BlockRefusal {
  readonly message: string;
  readonly advice?: string;
  readonly offset: number;
}

const IN_SCOPE = "all names for blocks are in scope already";
const NO_IMPORT = `import is not available, as a block is not a module: ${IN_SCOPE}`;
const NO_EXPORT = { message: "A block is not a module", advice: "leave out export: its declarations stay anyway" };
const FIXED_NAMES: ReadonlySet<string> = new Set([
  ...["undefined", "NaN", "Infinity", "globalThis", "dispatchEvent"],
  ...SYSTEM_NAMES,
]);

const MAX_NAMES = 1_000, MAX_NAME = 1_000;
interface Refusing {
  readonly longest: Identifier | null;
  readonly stripped: boolean;
  readonly js: string;
  readonly place: (offset: number) => string;
}

export function refusalOf(program: Program, { longest, stripped, js, place }: Refusing): BlockRefusal | null {
  const body = program.body.filter((node) => node.type !== "EmptyStatement");
  const [first] = body;
  if (!first) return stripped ? null : { message: "The block has nothing to run: only comments or spaces", offset: 0 };
  if (body.every((node) => node.type === "ExpressionStatement" && isBareText(node.expression))) {
    const advice = "put prose into final.answer, or assign the string to a variable";
    return { message: "The block is only a string", advice, offset: first.start };
  }
  return tooManyNames(program) ?? longName(longest) ?? fixedNames(program, place) ??
    useRefusalOf(program, { js, place });
}

function isFixedName(name: string): boolean {
  return FIXED_NAMES.has(name);
}

function useRefusalOf(program: Program, how: Pick<Refusing, "js" | "place">): BlockRefusal | null {
  const { js } = how;
  return unknownName(program, how) ?? (/import|export|\\u/.test(js) ? moduleSyntax(program) : null) ??
    (/arguments|\\u/.test(js) ? topLevelArguments(program) : null);
}

function isBareText(node: Expression): boolean {
  if (node.type === "TemplateLiteral") return node.expressions.length === 0;
  return node.type === "Literal" && typeof node.value === "string";
}

function tooManyNames(program: Program): BlockRefusal | null {
  const { length } = program.body.flatMap(declaredIdentifiers);
  if (length <= MAX_NAMES) return null;
  const message = `Cannot declare ${length} variables in one block: the limit is ${MAX_NAMES} variables`;
  return { message, advice: "keep the values in an array or an object", offset: 0 };
}

function longName(longest: Identifier | null): BlockRefusal | null {
  if (!longest || longest.name.length <= MAX_NAME) return null;
  const { name, start: offset } = longest;
  const message = `Cannot use a name of ${name.length} characters: the limit is ${MAX_NAME} characters`;
  return { message, advice: "choose a shorter name", offset };
}

function findName(node: AnyNode, isSought: (node: Identifier) => boolean): Identifier | null {
  if (node.type === "Identifier" && isSought(node)) return node;
  for (const child of childNodes(node)) {
    const found = findName(child, isSought);
    if (found) return found;
  }
  return null;
}

function fixedNames(program: Program, place: Refusing["place"]): BlockRefusal | null {
  const found = program.body.flatMap(declaredIdentifiers).filter(({ name }) => FIXED_NAMES.has(name));
  const [first] = found;
  if (!first) return null;
  const list = found.map(({ name, start }) => `${name} (line ${place(start)})`).join(", ");
  const which = found.length === 1 ? "this name" : "these names";
  const bare = first.name.replace("$", "");
  const other = `my${bare.charAt(0).toUpperCase()}${bare.slice(1)}`;
  return {
    message: `Cannot declare ${list}: the language or the sandbox uses ${which}`,
    advice: `choose another name, such as ${other}`,
    offset: first.start,
  };
}

/** The parser may know a newer Unicode than the engine, so it can accept names that the engine refuses. */
function unknownName(program: Program, { js, place }: Pick<Refusing, "js" | "place">): BlockRefusal | null {
  const found = /[^\0-\x7f]|\\u/.test(js) ? findName(program, ({ name }) => !isVariableName(name)) : null;
  if (!found) return null;
  const { name, start: offset } = found;
  return {
    message: `Cannot use the name ${name} (line ${place(offset)}): it has a character that no name may have`,
    advice: "choose another name",
    offset,
  };
}

function declaredIdentifiers(node: Program["body"][number]): Identifier[] {
  if (node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") return [node.id];
  const lists = node.type === "VariableDeclaration" ? [node] : nestedVars(node);
  return lists.flatMap(({ declarations }) => declarations.flatMap(({ id }) => boundIdentifiers(id)));
}

/** Parsers accept `arguments` outside of functions, where the name does not exist. */
function topLevelArguments(program: Program): BlockRefusal | null {
  if (!freeNames(program).includes("arguments")) return null;
  const message = "arguments exists only inside a function: the block itself is called with none";
  return { message, offset: outsideFunctions(program, "arguments")?.start ?? 0 };
}

function outsideFunctions(node: AnyNode, name: string): AnyNode | null {
  if (node.type === "Identifier" && node.name === name) return node;
  if (isFunction(node) && node.type !== "ArrowFunctionExpression") return null;
  for (const child of childNodes(node)) {
    const found = outsideFunctions(child, name);
    if (found) return found;
  }
  return null;
}

function isEmptyImport(node: AnyNode): boolean {
  return node.type === "ImportDeclaration" && node.specifiers.length === 0 && node.source.start - node.start >= 12;
}

function moduleSyntax(node: AnyNode): BlockRefusal | null {
  if (isEmptyImport(node)) return null;
  if (node.type === "ImportDeclaration") return { message: NO_IMPORT, offset: node.start };
  if (/^Export.*Declaration$/.test(node.type)) return { ...NO_EXPORT, offset: node.start };
  if (node.type === "ImportExpression") {
    return { message: `import() is not available: ${IN_SCOPE}`, offset: node.start };
  }
  if (node.type === "MetaProperty" && node.meta.name === "import") {
    return { message: `import.meta is not available: a block is not a module, and ${IN_SCOPE}`, offset: node.start };
  }
  for (const child of childNodes(node)) {
    const found = moduleSyntax(child);
    if (found) return found;
  }
  return null;
}

export function isDataLiteral(program: Program): boolean {
  const [only, ...more] = program.body.filter((node) => node.type !== "EmptyStatement");
  return only?.type === "ExpressionStatement" && more.length === 0 && isData(only.expression);
}

function isData(node: AnyNode): boolean {
  switch (node.type) {
    case "Literal":
      return true;
    case "TemplateLiteral":
      return node.expressions.length === 0;
    case "UnaryExpression":
      return (node.operator === "-" || node.operator === "+") && isData(node.argument);
    case "ArrayExpression":
      return node.elements.every((one) => one === null || isData(one));
    case "ObjectExpression":
      return node.properties.every((one) => one.type === "Property" && !one.computed && isData(one.value));
    default:
      return false;
  }
}

const UNSAFE: BlockRefusal = {
  message: "This block may be correct, but Vis could not rewrite it safely",
  advice: "write its declarations on lines of their own, without comments inside them, and nest it less deeply",
  offset: 0,
};

/** A mistake of the rewriter could let code out of its function, so this function checks the rewritten code once
 * more. */
export function scriptFault(code: string): BlockRefusal | null {
  let program: Program;
  try {
    program = CodeParser.parse(code, { ecmaVersion: "latest", sourceType: "script" });
  } catch {
    return UNSAFE;
  }
  const block = onlyFunction(program);
  if (!block) return UNSAFE;
  const inside: Program = { ...program, body: block.body.body };
  const refusal = useRefusalOf(inside, { js: code, place: () => "" });
  return refusal && { ...refusal, offset: 0 };
}

function onlyFunction({ body }: Program): FunctionExpression | null {
  const [strict, block, ...more] = body;
  if (strict?.type !== "ExpressionStatement" || strict.directive !== "use strict" || more.length > 0) return null;
  if (block?.type !== "ExpressionStatement" || block.expression.type !== "FunctionExpression") return null;
  return block.expression;
}

/** The source may come from an untrusted file. */
export function restoredFault(image: RestoredSource): string | null {
  if (isFixedName(image.name)) return "no block may declare its name";
  const js = restoredScript(image);
  let program: Program;
  try {
    program = CodeParser.parse(js, { ecmaVersion: "latest", sourceType: "script" });
  } catch {
    return NOT_ONE;
  }
  const value = assigned(program, image.name);
  const isDeclared = value && (image.kind === "function" ? isFunction(value) : isClass(value));
  if (!isDeclared) return NOT_ONE;
  return useRefusalOf(program, { js, place: (at) => `1:${at + 1}` })?.message ?? null;
}

const NOT_ONE = "its code is not one function or class";

function assigned({ body }: Program, name: string): AnyNode | null {
  const [strict, node, ...more] = body;
  if (strict?.type !== "ExpressionStatement" || strict.directive !== "use strict" || more.length > 0) return null;
  if (node?.type !== "ExpressionStatement" || node.expression.type !== "AssignmentExpression") return null;
  const { left, right, operator } = node.expression;
  return left.type === "Identifier" && left.name === name && operator === "=" ? right : null;
}
