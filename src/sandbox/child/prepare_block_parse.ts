import { type Comment, type ExpressionStatement, type Options, parse, parseExpressionAt, type Program } from "acorn";
import { codeOnly } from "./analysis_text.ts";
import { hasTypeArguments, spacedComments } from "./prepare_block_ambiguous.ts";
import { alignLines, composeMaps, IDENTITY, mapOffset, offsetOf, type PositionMap } from "./rewrite_map.ts";

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

export interface Parsed {
  readonly ok: true;
  readonly program: Program;
  readonly comments: readonly Comment[];
  /** The text that the program's offsets are of: JavaScript. */
  readonly js: string;
  /** From `js` to the text that was parsed. */
  readonly map: PositionMap;
  /** Whether types were stripped: then nothing left to run is fine. */
  readonly stripped: boolean;
}

export interface Unparsed {
  readonly ok: false;
  readonly message: string;
  /** In the text that was parsed. */
  readonly offset: number;
}

const OPTIONS: Options = {
  ecmaVersion: "latest",
  sourceType: "module",
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true,
};
/** Syntax of TypeScript that the stripper drops or turns into what a block cannot run, and says nothing. */
const UNAVAILABLE: readonly (readonly [RegExp, string])[] = [
  [
    /(?<![\w$.]|declare\s+)(?:namespace|module)\s+[A-Za-z_$][\w$.]*\s*\{/g,
    "Namespaces are not available: declare what is in it at the top level, where functions and classes are kept",
  ],
  [
    /(?<![\w$.])(?:import\s+[A-Za-z_$][\w$]*\s*=\s*require\b|export\s*=|export\s+as\s+namespace\b)/g,
    "A block is no module: what it may use is in scope already, and what it declares stays",
  ],
];

/** As JavaScript, and only where that fails or is not what was meant with the types stripped: plain JavaScript never
 * meets the stripper. */
export function parseText(given: string, loadSucrase: () => StripTypes): Parsed | Unparsed {
  const text = given.startsWith("#!") ? `//${given.slice(2)}` : given; // a script that is compiled alone has no such line
  const plain = parseScript(text);
  if (!plain.ok) return stripped(text, { plain, loadSucrase });
  if (!hasTypeArguments(plain.program, text)) return plain;
  const typed = stripped(text, { plain: { ok: false, message: "", offset: 0 }, loadSucrase });
  return typed.ok ? typed : plain;
}

interface Stripping {
  readonly plain: Unparsed;
  readonly loadSucrase: () => StripTypes;
}

function stripped(text: string, { plain, loadSucrase }: Stripping): Parsed | Unparsed {
  const unavailable = unavailableSyntax(text);
  if (unavailable) return unavailable;
  let js: string;
  try {
    js = loadSucrase()(text, {
      transforms: ["typescript"],
      disableESTransforms: true,
      preserveDynamicImport: true,
      keepUnusedImports: true,
    }).code;
  } catch (error) {
    return later(plain, stripperError(text, error));
  }
  if (js === text) return plain;
  const map = alignLines(js, text);
  const parsed = parseScript(js);
  if (parsed.ok) return { ...parsed, map: composeMaps(parsed.map, map), stripped: true };
  return later(plain, { ...parsed, offset: mapOffset(map, parsed.offset) });
}

/** The parser that came further met the fault; the other one met what it does not know. */
function later(a: Unparsed, b: Unparsed): Unparsed {
  return b.offset >= a.offset ? b : a;
}

function parseScript(js: string): Parsed | Unparsed {
  const comments: Comment[] = [];
  try {
    const program = parseObject(js) ?? parse(js, { ...OPTIONS, onComment: comments });
    const spaced = spacedComments(js, OPTIONS);
    if (!spaced) return { ok: true, program, comments, js, map: IDENTITY, stripped: false };
    const again = parseScript(spaced.text);
    return again.ok ? { ...again, map: composeMaps(again.map, spaced.map) } : again;
  } catch (error) {
    return unparsed(js, error);
  }
}

/** `{ a: 1 }` alone is meant as an object; the language reads a block with a label. */
function parseObject(js: string): Program | null {
  if (!/^\s*\{/.test(js)) return null;
  const start = js.search(/\{/);
  try {
    const expression = parseExpressionAt(js, start, OPTIONS);
    const rest = js.slice(expression.end);
    if (!/^[\s;]*$/.test(codeOnly(rest))) return null;
    const statement: ExpressionStatement = { type: "ExpressionStatement", start, end: expression.end, expression };
    return { type: "Program", start: 0, end: js.length, body: [statement], sourceType: "module" };
  } catch {
    return null;
  }
}

function unparsed(js: string, error: unknown): Unparsed {
  if (!(error instanceof SyntaxError)) {
    return { ok: false, message: "The code is nested too deeply to be read", offset: 0 };
  }
  const at: unknown = Reflect.get(error, "pos");
  const offset = typeof at === "number" ? at : 0;
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
  const at = /\((\d+):(\d+)\)\s*$/.exec(message);
  const offset = at ? offsetOf(text, { line: Number(at[1]), column: Number(at[2]) }) : 0;
  const plain = message.replace(/^Error transforming [^:]*: /, "").replace(/\s*\(\d+:\d+\)\s*$/, "");
  return { ok: false, message: clearer(plain, text, offset), offset };
}

function unavailableSyntax(text: string): Unparsed | null {
  const code = codeOnly(text);
  for (const [syntax, message] of UNAVAILABLE) {
    const [found] = code.matchAll(syntax);
    if (found) return { ok: false, message, offset: found.index };
  }
  return null;
}
