import {
  type AnyNode,
  type Comment,
  type ExpressionStatement,
  type Options,
  parse,
  parseExpressionAt,
  Parser,
  type Program,
} from "acorn";
import { childNodes, isTooDeep } from "../syntax/analysis.ts";
import { codeOnly } from "../syntax/code_only.ts";
import { hasTypeArguments, spacedComments } from "./ambiguous_text.ts";
import { type Marked, markNamespaces } from "./namespace_marks.ts";
import { alignLines, composeMaps, IDENTITY, mapOffset, offsetOf, type PositionMap } from "../syntax/position_map.ts";
import { withStringEnums } from "./string_enums.ts";
import { withoutTypeAliases } from "./type_aliases.ts";
import type { ParsedText } from "../rewrite/declarations.ts";
import { DECLARATIONS_ONLY, unfoldNamespaces, type Unparsed } from "../rewrite/namespaces.ts";

/** Strips types; sucrase's `transform`. */
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
  /** From `js` to the text that was parsed. */
  readonly map: PositionMap;
  /** Whether types were stripped: then it is fine if nothing is left to run. */
  readonly stripped: boolean;
}

const OPTIONS: Options = {
  ecmaVersion: "latest",
  sourceType: "module",
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true,
};
/** Bits of a scope in acorn. */
const TOP = 1, FUNCTION = 2;

/** As in a script, the top level may declare a function twice; everything else is as in a module. */
class BlockParser extends Parser {
  /** Overrides a method that acorn's types do not have. */
  treatFunctionsAsVarInScope({ flags }: { readonly flags: number }): boolean {
    return (flags & (TOP | FUNCTION)) !== 0;
  }
}

/** TypeScript syntax that the stripper silently drops or turns into something that a block cannot run. */
const UNAVAILABLE = /(?<![\w$.])(?:import\s+[A-Za-z_$][\w$]*\s*=\s*require\b|export\s*=|export\s+as\s+namespace\b)/;
/** Any other error is more precise. */
const NOT_PARSED: Unparsed = { ok: false, message: "", offset: 0 };
const TOO_DEEP: Unparsed = {
  ok: false,
  message: "The code is nested too deeply to be read: split it into statements, or repeat with a loop",
  offset: 0,
};
const NO_NAMESPACES: ReadonlyMap<string, readonly string[]> = new Map();

/** Parses as JavaScript. Only if that fails, or is not what was meant, it strips the types first: plain JavaScript
 * never reaches the stripper. */
export function parseText(given: string, loadSucrase: () => StripTypes): Parsed | Unparsed {
  const text = given.startsWith("#!") ? `//${given.slice(2)}` : given; // a script compiled separately lacks it
  const plain = parseScript(text);
  if (plain === TOO_DEEP) return plain;
  if (!plain.ok) return stripped(text, { plain, loadSucrase });
  if (!hasTypeArguments(plain.program, text)) return plain;
  const typed = stripped(text, { plain: NOT_PARSED, loadSucrase });
  return typed.ok ? typed : plain;
}

interface Stripping {
  readonly plain: Unparsed;
  readonly loadSucrase: () => StripTypes;
}

function stripped(text: string, how: Stripping): Parsed | Unparsed {
  const unavailable = UNAVAILABLE.exec(codeOnly(text));
  if (unavailable) {
    const message = "A block is not a module: what it may use is in scope already, and what it declares stays";
    return { ok: false, message, offset: unavailable.index };
  }
  const marked = markNamespaces(text, () => true);
  return marked ? withNamespaces(text, { ...how, marked }) : withoutTypes(text, how);
}

function strip(text: string, { plain, loadSucrase }: Stripping): string | Unparsed {
  try {
    const { code } = loadSucrase()(text, {
      transforms: ["typescript"],
      disableESTransforms: true,
      preserveDynamicImport: true,
      keepUnusedImports: true,
    });
    return /\benum\b/.test(text) ? withStringEnums(code) : code;
  } catch (error) {
    return error instanceof RangeError ? TOO_DEEP : later(plain, stripperError(text, error));
  }
}

function withoutTypes(text: string, how: Stripping): Parsed | Unparsed {
  const js = strip(text, how);
  if (typeof js !== "string") return js;
  if (js === text) return how.plain;
  const map = alignLines(js, text);
  const parsed = parseScript(js);
  if (parsed.ok) return { ...parsed, map: composeMaps(parsed.map, map), stripped: true, typed: text };
  return parsed === TOO_DEEP ? parsed : later(how.plain, { ...parsed, offset: mapOffset(map, parsed.offset) });
}

/** Strips types with functions instead of namespaces, which are then unfolded. */
function withNamespaces(text: string, how: Stripping & { readonly marked: Marked }): Parsed | Unparsed {
  const { marked: { text: given, map: toText, paths }, plain } = how;
  const js = strip(given, { ...how, plain: NOT_PARSED });
  const wrong = (found: Unparsed, map: PositionMap): Unparsed =>
    found === TOO_DEEP ? found : later(plain, { ...found, offset: mapOffset(map, found.offset) });
  if (typeof js !== "string") return wrong(js, toText);
  const map = composeMaps(alignLines(js, given), toText);
  const program = parseExports(js);
  if (!("body" in program)) {
    if (program === TOO_DEEP) return program;
    // deno-lint-ignore vis/no-message-parsing -- acorn has no codes
    const message = program.message.startsWith("Export ") ? DECLARATIONS_ONLY : program.message;
    return wrong({ ...program, message }, map);
  }
  const markers = new Set([...paths.keys()].filter((marker) => isFunctionIn(program, marker)));
  if (markers.size < paths.size) {
    const marked = markNamespaces(text, (marker) => markers.has(marker));
    return marked ? withNamespaces(text, { ...how, marked }) : withoutTypes(text, how);
  }
  const unfolded = unfoldNamespaces(program, { js, paths });
  if (!unfolded.ok) return { ...unfolded, offset: mapOffset(map, unfolded.offset) };
  const toSource = composeMaps(unfolded.map, map);
  const parsed = parseScript(withoutTypeAliases(unfolded.js, text));
  if (!parsed.ok) return wrong(parsed, toSource);
  const { exports: namespaces } = unfolded;
  return { ...parsed, map: composeMaps(parsed.map, toSource), stripped: true, typed: text, namespaces };
}

function parseExports(js: string): Program | Unparsed {
  try {
    const program = parse(js, { ...OPTIONS, allowImportExportEverywhere: true });
    return isTooDeep(program) ? TOO_DEEP : program;
  } catch (error) {
    return unparsed(js, error);
  }
}

function isFunctionIn(node: AnyNode, name: string): boolean {
  if (node.type === "FunctionDeclaration" && node.id?.name === name) return true;
  return childNodes(node).some((child) => isFunctionIn(child, name));
}

/** The parser that got further reports the real error; the other one failed at syntax that it does not know. */
function later(a: Unparsed, b: Unparsed): Unparsed {
  return b.offset >= a.offset ? b : a;
}

function parseScript(js: string): Parsed | Unparsed {
  const comments: Comment[] = [];
  try {
    const program = parseObject(js) ?? BlockParser.parse(js, { ...OPTIONS, onComment: comments });
    if (isTooDeep(program)) return TOO_DEEP;
    const spaced = spacedComments(js, OPTIONS);
    if (!spaced) {
      return { ok: true, program, comments, js, map: IDENTITY, stripped: false, typed: js, namespaces: NO_NAMESPACES };
    }
    const again = parseScript(spaced.text);
    return again.ok ? { ...again, map: composeMaps(again.map, spaced.map) } : again;
  } catch (error) {
    return unparsed(js, error);
  }
}

/** `{ a: 1 }` alone is meant as an object, but the language reads it as a block with a label. */
function parseObject(js: string): Program | null {
  if (!/^\s*\{/.test(js)) return null;
  const start = js.search(/\{/);
  try {
    const expression = parseExpressionAt(js, start, OPTIONS);
    const rest = parse(js.slice(expression.end), OPTIONS);
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
  return { ok: false, message: clearer(error.message.replace(/ \(\d+:\d+\)$/, ""), js, offset), offset };
}

function clearer(message: string, js: string, offset: number): string {
  const rest = js.slice(offset);
  if (rest.startsWith("@")) return "Decorators are not available: call the function yourself";
  if (/\baccessor\s+(?:static\s+)?$/.test(js.slice(0, offset))) {
    return "accessor fields are not available: write a getter and a setter";
  }
  if (message !== "Unexpected token") return message;
  const token = /^(?:[\w$]+|\S)/.exec(rest)?.[0];
  return token ? `Unexpected token ${token}` : "Unexpected end of the block";
}

function stripperError(text: string, error: unknown): Unparsed {
  const message = error instanceof Error ? error.message : "Unexpected token";
  // deno-lint-ignore vis/no-message-parsing -- sucrase reports the position only in its message
  const at = /\((\d+):(\d+)\)\s*$/.exec(message);
  const offset = at ? offsetOf(text, { line: Number(at[1]), column: Number(at[2]) }) : 0;
  // deno-lint-ignore vis/no-message-parsing -- sucrase reports the position only in its message
  const plain = message.replace(/^Error transforming [^:]*: /, "").replace(/\s*\(\d+:\d+\)\s*$/, "");
  return { ok: false, message: clearer(plain, text, offset), offset };
}
