import { type Comment, type ExpressionStatement, type Options, parse, parseExpressionAt, type Program } from "acorn";
import { codeOnly } from "./analysis_text.ts";
import { alignLines, IDENTITY, mapOffset, offsetOf, type PositionMap } from "./rewrite_map.ts";

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
const NAMESPACE = /(?:^|[^\w$.])(declare\s+)?(?:namespace|module)\s+[A-Za-z_$][\w$.]*\s*\{/g;

/** As JavaScript, and only where that fails with the types stripped: plain JavaScript never meets the stripper. */
export function parseText(text: string, loadSucrase: () => StripTypes): Parsed | Unparsed {
  const plain = parseScript(text);
  if (plain.ok) return plain;
  const namespace = undeclaredNamespace(text);
  if (namespace !== null) {
    return {
      ok: false,
      message: "Namespaces are not available: use an object or top-level functions",
      offset: namespace,
    };
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
    return later(plain, stripperError(text, error));
  }
  if (js === text) return plain;
  const map = alignLines(js, text);
  const parsed = parseScript(js);
  if (parsed.ok) return { ...parsed, map, stripped: true };
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
    return { ok: true, program, comments, js, map: IDENTITY, stripped: false };
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

/** The stripper drops namespaces with their code, and says nothing. */
function undeclaredNamespace(text: string): number | null {
  for (const found of codeOnly(text).matchAll(NAMESPACE)) {
    if (!found[1]) return found.index + found[0].search(/namespace|module/);
  }
  return null;
}
