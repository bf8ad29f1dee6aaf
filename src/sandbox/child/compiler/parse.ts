import {
  type AnyNode,
  type Comment,
  type ExpressionStatement,
  type Identifier,
  type Options,
  Parser,
  type Program,
  type Token,
  type TokenType,
  tokTypes,
} from "acorn";
import { childNodes, sizeOf } from "./analysis.ts";
import type { ParsedText } from "./declarations.ts";
import {
  alignLines,
  applyEdits,
  composeMaps,
  IDENTITY,
  mapOffset,
  offsetOf,
  type PositionMap,
  type SourceEdit,
} from "./positions.ts";

class ScopeNames extends Array<string> {
  #all: Set<string> | null = null;

  override push(name: string): number {
    if (this.length === 16) this.#all = new Set(this);
    this.#all?.add(name);
    return super.push(name);
  }

  override indexOf(name: string): number {
    return this.#all === null ? super.indexOf(name) : this.#all.has(name) ? 0 : -1;
  }
}

/** Acorn's own scopes search a list for each name, so long code would take quadratic time. Acorn calls this override,
 * which its types lack. */
export class CodeParser extends Parser {
  declare readonly scopeStack: unknown[];

  enterScope(flags: number): void {
    this.scopeStack.push({ flags, var: new ScopeNames(), lexical: new ScopeNames(), functions: new ScopeNames() });
  }
}

class WideStrings extends CodeParser {
  declare pos: number;
  declare readonly getToken: () => Token;
  declare readonly finishToken: (type: TokenType, value: string) => void;
  readonly #feeds: number[] = [];

  readString(quote: number): void {
    while (this.input.charCodeAt(++this.pos) !== quote) {
      if (this.pos >= this.input.length) throw new SyntaxError("Unterminated string constant");
      const code = this.input.charCodeAt(this.pos);
      if (code === BACKSLASH) this.pos++;
      else if (code === LINE_FEED) this.#feeds.push(this.pos);
    }
    this.pos++;
    this.finishToken(tokTypes.string, "");
  }

  static feeds(text: string): readonly number[] {
    const parser = new WideStrings({ ecmaVersion: "latest", sourceType: "module" }, text);
    while (parser.getToken().type !== tokTypes.eof);
    return parser.#feeds;
  }
}

const BACKSLASH = 92, LINE_FEED = 10;

export function feedsInStrings(text: string): readonly number[] | null {
  try {
    return WideStrings.feeds(text);
  } catch {
    return null;
  }
}

export interface Unparsed {
  readonly ok: false;
  readonly message: string;
  readonly advice?: string;
  readonly offset: number;
}

export type StripTypes = (
  code: string,
  options: {
    transforms: "typescript"[];
    disableESTransforms: boolean;
    preserveDynamicImport: boolean;
    keepUnusedImports: boolean;
  },
) => { readonly code: string };

export interface Parsed extends ParsedText {
  readonly ok: true;
  readonly map: PositionMap;
  readonly nodes: number;
  readonly longest: Identifier | null;
  readonly stripped: boolean;
}

const OPTIONS: Options = {
  ecmaVersion: "latest",
  sourceType: "module",
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true,
};
const TOP = 1, FUNCTION = 2;

/** A block may declare a function twice at its top level, as a script may. */
class BlockParser extends CodeParser {
  treatFunctionsAsVarInScope({ flags }: { readonly flags: number }): boolean {
    return (flags & (TOP | FUNCTION)) !== 0;
  }
}

/** The stripper drops this TypeScript syntax silently, or turns it into code that a block cannot run. */
const UNAVAILABLE =
  /(?<=(?:^|[;{}])[^\S\n]*)(?:import\s+[A-Za-z_$][\w$]*\s*=\s*require\b|export\s*=|export\s+as\s+namespace\b)/m;
const NOT_PARSED: Unparsed = { ok: false, message: "", offset: 0 };
const TOO_DEEP: Unparsed = {
  ok: false,
  message: "The code is nested too deeply to be read",
  advice: "split it into statements, or repeat with a loop",
  offset: 0,
};

export function parseText(given: string, loadSucrase: () => StripTypes): Parsed | Unparsed {
  // The code becomes the body of a function, where a shebang is a syntax error.
  const text = given.startsWith("#!") ? `//${given.slice(2)}` : given;
  const plain = parseScript(text);
  if (plain === TOO_DEEP) return plain;
  if (!plain.ok) return stripped(text, { plain, loadSucrase });
  if (!hasTypeArguments(plain.program, plain.js)) return plain;
  const typed = stripped(text, { plain: NOT_PARSED, loadSucrase });
  return typed.ok ? typed : plain;
}

/** In JavaScript, `f<T>(x)` is a comparison; a block is TypeScript, where the same text is a call. */
function hasTypeArguments(program: AnyNode, js: string): boolean {
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

interface Stripping {
  readonly plain: Unparsed;
  readonly loadSucrase: () => StripTypes;
}

function stripped(text: string, { plain, loadSucrase }: Stripping): Parsed | Unparsed {
  const unavailable = UNAVAILABLE.exec(codeOnly(text));
  if (unavailable) {
    const message = "A block is not a module: all names for blocks are in scope already, and its declarations stay";
    return { ok: false, message, offset: unavailable.index };
  }
  let js: string;
  try {
    js = loadSucrase()(text, {
      transforms: ["typescript"],
      disableESTransforms: true,
      preserveDynamicImport: true,
      keepUnusedImports: true,
    }).code;
  } catch (error) {
    return error instanceof RangeError ? TOO_DEEP : later(plain, stripperError(text, error));
  }
  if (js === text) return plain;
  const namespace = namespaceIn(text, js);
  if (namespace) return namespace;
  const map = alignLines(js, text);
  let parsed = parseScript(js);
  if (parsed.ok && /\benum\b/.test(text)) {
    const edits = textMembers(parsed.program);
    if (edits.length > 0) parsed = parseScript(applyEdits(js, edits).text);
  }
  if (parsed.ok) return { ...parsed, map: composeMaps(parsed.map, map), stripped: true };
  return parsed === TOO_DEEP ? parsed : later(plain, { ...parsed, offset: mapOffset(map, parsed.offset) });
}

const PATH = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$]*(?:\s*\.\s*[\p{ID_Start}$_][\p{ID_Continue}$]*)*`;
const NAMESPACE = new RegExp(
  String.raw`(?<![\p{ID_Continue}$.#])(?:declare\s+(?:global|(?:namespace|module)(?:[^\S\n]+${PATH})?)|` +
    String.raw`(?:namespace|module)[^\S\n]+(${PATH}))\s*\{`,
  "gu",
);

/** The stripper drops every namespace, so Vis refuses a namespace without `declare`. */
function namespaceIn(text: string, js: string): Unparsed | null {
  const code = codeOnly(text);
  let from = 0;
  for (const found of code.matchAll(NAMESPACE)) {
    const [header, name] = found, end = found.index + header.length;
    if (found.index < from) continue; // The namespace is inside a `declare` body.
    if (name === undefined) from = closedAt(code, end);
    else if (!js.includes(text.slice(found.index, end))) {
      const advice = `write const ${/^[^\s.]+/.exec(name)?.[0]} = { … }, or only its members`;
      return { ok: false, message: "namespace is not available", advice, offset: found.index };
    }
  }
  return null;
}

function closedAt(code: string, offset: number): number {
  let open = 1, at = offset;
  for (; open > 0 && at < code.length; at++) {
    if (code[at] === "{") open++;
    else if (code[at] === "}") open--;
  }
  return at;
}

/** Keeps regular expressions. */
function codeOnly(text: string): string {
  return text.replace(
    /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|`(?:[^`\\]|\\[\s\S])*`?/g,
    (found) => found.replace(/[^\n]/g, " "),
  );
}

/** Turns `E[E["A"] = …] = "A"` into ` E["A"] = …` of the same length. The stripper gives text members a reverse
 * mapping, unless the value is one literal. */
function textMembers(program: Program): SourceEdit[] {
  const texts = new Set<string>(), edits: SourceEdit[] = [];
  const isText = (node: AnyNode, owner: string): boolean => {
    switch (node.type) {
      case "Literal":
        return typeof node.value === "string";
      case "TemplateLiteral":
        return true;
      case "BinaryExpression":
        return node.operator === "+" && (isText(node.left, owner) || isText(node.right, owner));
      case "Identifier":
        return texts.has(`${owner}.${node.name}`);
      case "MemberExpression":
        return memberOf(node) !== null && texts.has(memberOf(node)!);
      default:
        return false;
    }
  };
  const visit = (node: AnyNode, owner: string): void => {
    if (node.type === "VariableDeclarator" && node.id.type === "Identifier" && node.init && isText(node.init, owner)) {
      texts.add(`${owner}.${node.id.name}`);
    }
    if (node.type === "AssignmentExpression") {
      const { left, right } = node, inner = left.type === "MemberExpression" && left.computed ? left.property : null;
      const set = inner?.type === "AssignmentExpression" ? inner : node, member = memberOf(set.left);
      if (member?.startsWith(`${owner}.`) && isText(set.right, owner)) {
        texts.add(member);
        const isMember = set !== node && right.type === "Literal" && member === `${owner}.${String(right.value)}`;
        if (isMember) edits.push(blank(node.start, set.start), blank(set.end, node.end));
      }
    }
    const call = node.type === "CallExpression" && node.callee.type === "FunctionExpression" ? node.callee : null;
    const [param] = call?.params ?? [], isEnum = call?.params.length === 1 && param?.type === "Identifier";
    const inside = isEnum ? param.name : owner;
    for (const child of childNodes(node)) visit(child, inside);
  };
  visit(program, "");
  return edits;
}

function memberOf(node: AnyNode): string | null {
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return null;
  const { object, property, computed } = node;
  if (!computed) return property.type === "Identifier" ? `${object.name}.${property.name}` : null;
  return property.type === "Literal" && typeof property.value === "string" ? `${object.name}.${property.value}` : null;
}

function blank(start: number, end: number): SourceEdit {
  return { start, end, text: " ".repeat(end - start) };
}

/** The error of the parser that came further is more useful, because this parser knows more of the syntax. */
function later(a: Unparsed, b: Unparsed): Unparsed {
  return b.offset >= a.offset ? b : a;
}

function parseScript(js: string): Parsed | Unparsed {
  const comments: Comment[] = [];
  try {
    const program = parseObject(js) ?? BlockParser.parse(js, { ...OPTIONS, onComment: comments });
    const size = sizeOf(program);
    if (!size) return TOO_DEEP;
    const spaced = spacedComments(js, OPTIONS) ?? separatedLines(program, js);
    if (!spaced) {
      return { ok: true, program, ...size, comments, js, map: IDENTITY, stripped: false };
    }
    const again = parseScript(spaced.text);
    return again.ok ? { ...again, map: composeMaps(again.map, spaced.map) } : again;
  } catch (error) {
    return unparsed(js, error);
  }
}

/** In a script, `<!--` of `a <!--b` begins a comment; in a module, these are three operators. */
function spacedComments(
  js: string,
  options: Options,
): { readonly text: string; readonly map: PositionMap } | null {
  if (!js.includes("<!--")) return null;
  const tokens: Token[] = [];
  CodeParser.parse(js, { ...options, onToken: tokens });
  const edits = tokens.flatMap(({ start, end }) =>
    end - start === 1 && js.startsWith("<!--", start) ? [{ start: end, end, text: " " }] : []
  );
  return edits.length > 0 ? applyEdits(js, edits) : null;
}

const MAX_SEPARATED = 8;

/** Ends a statement before a line that begins with a bracket or a template. The language would read `const a = b` and
 * `[c, d]` on the next line as one expression. A deeper indentation marks a line that continues its statement. */
function separatedLines(
  program: Program,
  js: string,
): { readonly text: string; readonly map: PositionMap } | null {
  if (!/\n[^\S\n]*[[(`]/.test(js)) return null;
  const all = continuations(program, js).map((at) => ({ start: at, end: at, text: ";" }));
  if (all.length === 0) return null;
  const whole = applyEdits(js, all);
  if (parses(whole.text)) return whole;
  let edits: readonly SourceEdit[] = [];
  for (const edit of all.slice(0, MAX_SEPARATED)) {
    if (parses(applyEdits(js, [...edits, edit]).text)) edits = [...edits, edit];
  }
  return edits.length > 0 ? applyEdits(js, edits) : null;
}

function parses(js: string): boolean {
  try {
    BlockParser.parse(js, OPTIONS);
    return true;
  } catch {
    return false;
  }
}

function continuations(program: Program, js: string): readonly number[] {
  const found: number[] = [];
  const visit = (node: AnyNode, statement: AnyNode): void => {
    const inner = /(?:Statement|Declaration)$/.test(node.type) ? node : statement;
    const before = continued(node);
    if (before) {
      const at = afterGap(js, before.end), line = lineOf(js, at);
      const begins = line.start > before.end && line.code === at;
      if (begins && at - line.start <= indentation(js, inner.start)) found.push(at);
    }
    for (const child of childNodes(node)) visit(child, inner);
  };
  for (const node of program.body) visit(node, node);
  return found.sort((a, b) => a - b);
}

function continued(node: AnyNode): AnyNode | null {
  if (node.type === "MemberExpression") return node.computed && !node.optional ? node.object : null;
  if (node.type === "CallExpression") return node.optional ? null : node.callee;
  return node.type === "TaggedTemplateExpression" ? node.tag : null;
}

function afterGap(js: string, offset: number): number {
  const gap = /(?:[\s)]|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;
  gap.lastIndex = offset;
  return offset + (gap.exec(js)?.[0].length ?? 0);
}

function indentation(js: string, offset: number): number {
  const { start, code } = lineOf(js, offset);
  return code - start;
}

function lineOf(js: string, offset: number): { readonly start: number; readonly code: number } {
  const start = offset === 0 ? 0 : js.lastIndexOf("\n", offset - 1) + 1;
  const spaces = /[^\S\n]*/y;
  spaces.lastIndex = start;
  return { start, code: start + (spaces.exec(js)?.[0].length ?? 0) };
}

/** The language would read `{ a: 1 }` alone as a block with a label. */
function parseObject(js: string): Program | null {
  if (!/^\s*\{/.test(js)) return null;
  const start = js.search(/\{/);
  try {
    const expression = CodeParser.parseExpressionAt(js, start, OPTIONS);
    const rest = CodeParser.parse(js.slice(expression.end), OPTIONS);
    if (rest.body.some(({ type }) => type !== "EmptyStatement")) return null;
    const statement: ExpressionStatement = { type: "ExpressionStatement", start, end: expression.end, expression };
    return { type: "Program", start: 0, end: js.length, body: [statement], sourceType: "module" };
  } catch {
    return null;
  }
}

function unparsed(js: string, error: unknown): Unparsed {
  // deno-lint-ignore vis/no-message-parsing -- acorn has no codes
  if (!(error instanceof SyntaxError) || error.message.startsWith("Not enough stack space")) return TOO_DEEP;
  const at: unknown = Reflect.get(error, "pos");
  const offset = typeof at === "number" ? at : 0;
  // deno-lint-ignore vis/no-message-parsing -- acorn appends the position to its messages
  return { ok: false, ...clearer(error.message.replace(/ \(\d+:\d+\)$/, ""), js, offset), offset };
}

function clearer(message: string, js: string, offset: number): Pick<Unparsed, "message" | "advice"> {
  const rest = js.slice(offset);
  if (rest.startsWith("@")) return { message: "Decorators are not available", advice: "call the function yourself" };
  if (/\baccessor\s+(?:static\s+)?$/.test(js.slice(0, offset))) {
    return { message: "accessor fields are not available", advice: "write a getter and a setter" };
  }
  if (message !== "Unexpected token") return { message };
  const token = /^(?:[\w$]+|\S)/.exec(rest)?.[0];
  return { message: token ? `Unexpected token ${token}` : "Unexpected end of the block" };
}

function stripperError(text: string, error: unknown): Unparsed {
  const message = error instanceof Error ? error.message : "Unexpected token";
  // deno-lint-ignore vis/no-message-parsing -- sucrase reports the position only in its message
  const at = /\((\d+):(\d+)\)\s*$/.exec(message);
  const offset = at ? offsetOf(text, { line: Number(at[1]), column: Number(at[2]) }) : 0;
  // deno-lint-ignore vis/no-message-parsing -- sucrase reports the position only in its message
  const plain = message.replace(/^Error transforming [^:]*: /, "").replace(/\s*\(\d+:\d+\)\s*$/, "");
  return { ok: false, ...clearer(plain, text, offset), offset };
}
