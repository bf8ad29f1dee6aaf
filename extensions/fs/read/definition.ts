import { advised, counted } from "@vis/extension";
import type { FsContext } from "../context.ts";
import { readFile } from "./read_file.ts";

export interface FoundDefinition {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly others?: readonly number[];
}

export async function findDefinition(
  context: FsContext,
  path: string,
  sought: string | number,
): Promise<FoundDefinition> {
  const text = await readFile(context, path);
  const source = new SourceLines(text, path);
  const found = typeof sought === "number" ? source.around(sought) : source.named(sought);
  const [best, ...others] = found;
  if (best) {
    const { from, to } = best;
    const lines = others.map((one) => one.from);
    return { path, from, to, text: source.text(best), ...lines.length === 0 ? {} : { others: lines } };
  }
  if (typeof sought === "number") {
    const cannot = `Cannot find a definition around line ${sought} of ${path}`;
    if (sought > source.count) throw new Error(`${cannot}: the file has ${counted(source.count, "line")}`);
    throw advised(
      new Error(`${cannot}: Vis recognizes none there`),
      `read the lines with fs.readFile(path, {from: ${Math.max(1, sought - 20)}, to: ${sought + 20}})`,
    );
  }
  throw advised(
    new Error(`Cannot find a definition of ${sought}: Vis recognizes none in ${path}`),
    `search with fs.grep(${JSON.stringify(sought)}, {context: 20})`,
  );
}

interface Span {
  readonly from: number;
  readonly to: number;
}

const MAX_LINE = 2_000;
const MAX_FOUND = 20;
const MAX_ABOVE = 200;

const MODIFIER = String
  .raw`(?:(?:export|default|declare|public|private|protected|internal|static|abstract|final|sealed|override|open|async|inline|unsafe|extern|const|virtual|partial|readonly|local|data|case|suspend|pub(?:\([\w: ]{1,40}\))?|"C")\s+)*`;
const KEYWORD = String
  .raw`(?:function\s*\*?|class|interface|enum|type|struct|trait|impl|union|record|protocol|extension|object|module|namespace|package|def|defp|defmodule|defmacro|fn|func|fun|sub|proc|macro_rules!|mod|actor|contract)`;
const VALUE = String.raw`(?:const|let|var|val|static(?:\s+mut)?|final)`;
const WORD = String.raw`[\p{L}_$#][\p{L}\p{N}_$]*[!?]?`;
const TYPES = String.raw`(?:[\w$<>\[\],.&*?:~]+\s+){0,8}[*&]{0,3}`;
const NO_DEFINITION =
  /^\s*(?:return|throw|await|yield|else|if|for|while|switch|catch|do|new|case|delete|typeof|import|from|using|assert|raise|print|echo|in|not|and|or|elif|elseif|elsif|when|match|unless|until|goto|sizeof)\b/;

function kindsOf(name: string): readonly (readonly [kind: Kind, pattern: RegExp])[] {
  const last = String.raw`${name}(?![\p{L}\p{N}_$])`;
  const of = String.raw`(?:function\s*\*\s*|${KEYWORD}(?:\s*\([^()]{0,200}\)\s*|\s*<[^<>]{0,200}>\s*|\s+))`;
  const call = String.raw`\s*(?:<[^<>]{0,200}>\s*)?\(`;
  const made = String.raw`(?:async\b\s*)?(?:function\b|class\b|\(|lambda\b|[\w$]{1,100}\s*=>)`;
  const kinds: readonly (readonly [Kind, string])[] = [
    ["named", String.raw`^\s*${MODIFIER}${of}(?:[\w.<>?]{1,200}[.:])?${last}`],
    ["called", String.raw`^\s*${MODIFIER}(?:get\s+|set\s+|\*\s*)?${last}${call}`],
    ["value", String.raw`^\s*${MODIFIER}${VALUE}\s+${last}\s*(?::|=|$)`],
    ["made", String.raw`^\s*(?:[\w$]{1,100}\.){0,5}${last}\s*[:=]\s*${made}`],
    ["called", String.raw`^\s*${MODIFIER}${TYPES}(?:[\w$<>]{1,100}::){0,8}~?${last}${call}`],
    ["value", String.raw`^${last}\s*(?::[^=]{0,100})?=(?!=)`],
    ["value", String.raw`^\s*#\s*define\s+${last}`],
  ];
  return kinds.map(([kind, pattern]) => [kind, new RegExp(pattern, "u")]);
}

type Kind = "named" | "called" | "value" | "made";

const ANY = kindsOf(WORD);
const MAKES_FUNCTION = /=>|\bfunction\b|\bclass\b/;
const CALLBACK = /(?:=>\s*[{(]?|\bfunction\b.{0,200}\{|\bdo(?:\s*\|[^|]{0,200}\|)?)\s*$/;
const USES_TYPE =
  /^\s*(?:(?:static|const|extern|inline)\s+)*(?:struct|enum|union)\s+\w+\s*(?:\*|\s[A-Za-z_]\w*\s*[(;=,[])/;
const ABOVE =
  /^\s*(?:@|#\[|\/\/|\/?\*|--|;;|template\s*<|\[[\w.]+(?:\(.*\))?\]\s*$|#(?!\s*(?:define|undef|include|if|ifdef|ifndef|endif|else|elif|pragma)\b)(?![\w$]+\s*[=;(:]))/;
const CONTINUES =
  /^\s*(?:[{)\]}.|&?:+\-*/=]|->|=>|where\b|throws\b|extends\b|implements\b|with\b|noexcept\b|requires\b|begin\b)/;
const ENDS = /^\s*(?:end\b(?!\s*[=.([])|fi\b|done\b|esac\b)/;
const MAX_WORK = 20_000_000;

class SourceLines {
  readonly #lines: readonly string[];
  readonly #code: readonly string[];
  readonly #inside: readonly boolean[];
  readonly #hasEnd: boolean;
  readonly #isIndented: boolean;
  #work = 0;

  constructor(text: string, path: string) {
    this.#lines = text.split("\n");
    const { code, inside } = withoutText(text, path);
    this.#code = code;
    this.#inside = inside;
    this.#hasEnd = /\.(?:rb|rake|lua|exs?|jl|cr|sh|bash|vhdl?|adb)$/i.test(path);
    this.#isIndented = /\.(?:pyi?|pyx|nim|coffee|hs|fs|fsx|ya?ml|sass|gd)$/i.test(path);
  }

  get count(): number {
    return this.#lines.length - (this.#lines.at(-1) === "" ? 1 : 0);
  }

  text({ from, to }: Span): string {
    return this.#lines.slice(from - 1, to).join("\n").replace(/\r$/, "");
  }

  named(name: string): readonly Span[] {
    const parts = name.trim().replace(/\(\)$/, "").split(/\.|::|#|:/).filter((part) => part !== "");
    const own = parts.at(-1) ?? "", owner = parts.at(-2);
    if (own === "") return [];
    const found = this.#find(own);
    if (owner === undefined) return found.map(({ span }) => span);
    const owners = this.named(owner);
    const isOwned = ({ span, line }: { readonly span: Span; readonly line: number }): boolean =>
      owners.some(({ from, to }) => from <= span.from && span.to <= to) || (this.#lines[line] ?? "").includes(owner);
    return found.filter(isOwned).map(({ span }) => span);
  }

  around(sought: number): readonly Span[] {
    if (sought > this.#lines.length) return [];
    const within = (line: number): Span | null => {
      const span = this.#span(line);
      return span.from <= sought && sought <= span.to ? span : null;
    };
    const spanOf = (line: number): Span | null => {
      const kind = this.#kindAt(line, ANY);
      if (!kind || kind === "value" && !MAKES_FUNCTION.test(this.#code[line] ?? "")) return null;
      const span = within(line);
      return span && this.#hasBody(line, span) && !(kind === "called" && this.#isCall(span)) ? span : null;
    };
    const callOf = (line: number): Span | null => CALLBACK.test(this.#code[line] ?? "") ? within(line) : null;
    const last = Math.min(sought + MAX_ABOVE, this.#lines.length);
    for (const find of [spanOf, callOf]) {
      for (let line = sought; line < last && this.#isAbove(line - 1); line++) {
        const span = find(line);
        if (span) return [span];
      }
      for (let line = sought - 1; line >= 0 && this.#work < MAX_WORK; line--) {
        const span = find(line);
        if (span) return [span];
      }
    }
    return [];
  }

  #find(name: string): readonly { readonly span: Span; readonly line: number }[] {
    const kinds = kindsOf(name.replace(/[^\p{L}\p{N}_]/gu, "\\$&"));
    const found: { readonly span: Span; readonly line: number; readonly rank: number }[] = [];
    for (const [line, text] of this.#lines.entries()) {
      if (found.length >= MAX_FOUND || this.#work >= MAX_WORK) break;
      if (!text.includes(name)) continue;
      const kind = this.#kindAt(line, kinds);
      if (!kind) continue;
      const span = this.#span(line), hasBody = this.#hasBody(line, span);
      if (kind === "called" && (this.#isCall(span) || !hasBody && !this.#isDeclared(line))) continue;
      const rank = kinds.findIndex(([one]) => one === kind);
      found.push({ span, line, rank: hasBody ? rank : rank + kinds.length });
    }
    const sorted = found.toSorted((one, other) => one.rank - other.rank || one.line - other.line);
    return sorted.filter(({ span }, at) => sorted.findIndex((one) => one.span.from === span.from) === at);
  }

  #kindAt(line: number, kinds: ReturnType<typeof kindsOf>): Kind | null {
    const code = this.#code[line] ?? "";
    if (code.length > MAX_LINE || this.#inside[line] || NO_DEFINITION.test(code)) return null;
    const found = kinds.find(([kind, one]) => one.test(code) && !(kind === "named" && USES_TYPE.test(code)));
    return found?.[0] ?? null;
  }

  #isCall({ to }: Span): boolean {
    return /\)\s*[;,]?\s*$/.test(this.#code[to - 1] ?? "");
  }

  #isDeclared(line: number): boolean {
    return /^\s*(?:[\w$<>\[\],.&*?:~]+\s+){1,8}[*&]{0,3}[\w$]+\s*\([^=]*\)[^={]*;\s*$/.test(this.#code[line] ?? "");
  }

  #hasBody(line: number, { to }: Span): boolean {
    const head = this.#code.slice(line, Math.min(to, line + MAX_ABOVE)).join("\n");
    if (/\{|=>/.test(head) || this.#isIndented && /:\s*\S/.test(head)) return true;
    return to - 1 > line && (this.#hasEnd || this.#indent(line + 1) > this.#indent(line));
  }

  #span(line: number): Span {
    let from = line;
    while (from > Math.max(0, line - MAX_ABOVE) && this.#isAbove(from - 1)) from--;
    return { from: from + 1, to: this.#end(line) + 1 };
  }

  #isAbove(line: number): boolean {
    const text = this.#lines[line] ?? "";
    if (this.#inside[line] === true) return /\*\/\s*$/.test(text) || this.#inside[line + 1] === true;
    return ABOVE.test(text);
  }

  #end(first: number): number {
    const indent = this.#indent(first);
    let depth = 0, last = first;
    for (let line = first; line < this.#code.length && this.#work < MAX_WORK; line++) {
      const code = this.#code[line] ?? "";
      this.#work += code.length + 1;
      const isBlank = code.trim() === "" && !this.#inside[line];
      if (line > first && depth <= 0 && !this.#inside[line] && !isBlank) {
        if (this.#hasEnd && this.#indent(line) === indent && ENDS.test(code)) return line;
        const continues = !this.#isIndented && CONTINUES.test(code) && !/[;}]\s*$/.test(this.#code[last] ?? "");
        if (this.#indent(line) <= indent && !continues) break;
      }
      if (!isBlank || depth > 0) last = line;
      for (const sign of code) {
        if (sign === "{" || sign === "[" || sign === "(") depth++;
        else if (sign === "}" || sign === "]" || sign === ")") depth--;
      }
      if (depth < 0) return Math.max(first, this.#indent(line) < indent ? line - 1 : line);
      if (depth === 0 && !this.#isIndented && /[;}]\s*,?\s*$/.test(code) && this.#indent(line) <= indent) return line;
    }
    // The brackets of branches such as `#if` and `#else` may not match, so indentation decides.
    return depth > 0 ? this.#endByIndent(first) : last;
  }

  #endByIndent(first: number): number {
    const indent = this.#indent(first);
    let last = first;
    for (let line = first + 1; line < this.#lines.length; line++) {
      const text = this.#lines[line] ?? "";
      this.#work += text.length + 1;
      if (text.trim() === "" || /^#/.test(text)) continue;
      if (this.#indent(line) < indent || this.#indent(line) === indent && !CONTINUES.test(text)) break;
      last = line;
      if (this.#indent(line) === indent && /^\s*\}/.test(text)) break;
    }
    return last;
  }

  #indent(line: number): number {
    const blanks = /^[ \t]*/.exec(this.#lines[line] ?? "")?.[0] ?? "";
    return blanks.replaceAll("\t", "        ").length;
  }
}

const LONG_QUOTES =
  /\.(?:[cm]?[jt]sx?|vue|svelte|php|dart|pyi?|pyx|rb|rake|lua|sh|bash|pl|pm|groovy|gradle|r|jl|nim|sql)$/i;
const HASH_COMMENTS =
  /\.(?:pyi?|pyx|rb|rake|sh|bash|pl|pm|r|jl|nim|exs?|cr|ya?ml|toml|gd|tcl|coffee|mk)$|(?:^|\/)(?:Makefile|Dockerfile)$/i;
const DASH_COMMENTS = /\.(?:lua|hs|sql|adb|elm|vhdl?)$/i;
const TEMPLATES = /\.(?:[cm]?[jt]sx?|vue|svelte)$/i;

function textsIn(path: string): RegExp {
  const hash = HASH_COMMENTS.test(path), dash = DASH_COMMENTS.test(path);
  const parts = [
    String.raw`"""[^]*?(?:"""|$)`,
    ...hash ? [String.raw`'''[^]*?(?:'''|$)`] : [],
    String.raw`R"(?<tag>[^()\s"]{0,16})\([^]*?\)\k<tag>"`,
    String.raw`r(?<marks>#{1,8})"[^]*?"\k<marks>`,
    hash ? String.raw`#[^\n]*` : dash ? String.raw`--\[\[[^]*?\]\]|--[^\n]*` : String.raw`//[^\n]*|/\*[^]*?(?:\*/|$)`,
    String.raw`"(?:[^"\\\n]|\\[^])*"?`,
    LONG_QUOTES.test(path) ? String.raw`'(?:[^'\\\n]|\\[^])*'?` : String.raw`'(?:\\[^\n']{1,10}|[^\\'\n])'`,
    ...TEMPLATES.test(path)
      ? [String.raw`(?<=(?:^|[(,=:[!&|?{};\n>]|\breturn)[ \t]*)/(?![/*])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/`]
      : [],
  ];
  return new RegExp(parts.join("|"), "y");
}

const INSIDE = "\u0001";

function withoutText(text: string, path: string): { readonly code: string[]; readonly inside: boolean[] } {
  const code = new Masked(text, path).masked().split("\n");
  const inside = code.map((line) => line.startsWith(INSIDE));
  return { code: code.map((line) => line.replaceAll(INSIDE, "").replace(/\r$/, "")), inside };
}

class Masked {
  readonly #text: string;
  readonly #texts: RegExp;
  readonly #hasTemplates: boolean;
  readonly #hasRaw: boolean;
  readonly #open: number[] = [];
  #out = "";
  #at = 0;

  constructor(text: string, path: string) {
    this.#text = text;
    this.#texts = textsIn(path);
    this.#hasTemplates = TEMPLATES.test(path);
    this.#hasRaw = /\.(?:go|kts?|odin)$/i.test(path);
  }

  masked(): string {
    let depth = 0;
    while (this.#at < this.#text.length) {
      const sign = this.#text.charAt(this.#at);
      const isBack = sign === "`" && (this.#hasTemplates || this.#hasRaw);
      if (isBack || sign === "}" && this.#open.length > 0 && this.#open.at(-1) === depth) {
        if (!isBack) this.#open.pop();
        this.#template(depth);
        continue;
      }
      if (sign === "{") depth++;
      else if (sign === "}") depth--;
      this.#texts.lastIndex = this.#at;
      const found = /["'#/\-rR]/.test(sign) ? this.#texts.exec(this.#text)?.[0] : undefined;
      if (found) this.#mask(this.#at + found.length);
      else {
        this.#out += sign === INSIDE ? " " : sign;
        this.#at++;
      }
    }
    return this.#out;
  }

  #template(depth: number): void {
    for (let end = this.#at + 1; end < this.#text.length; end++) {
      const sign = this.#text.charAt(end);
      if (sign === "`") return this.#mask(end + 1);
      if (!this.#hasTemplates) continue;
      if (sign === "\\") end++;
      else if (sign === "$" && this.#text.charAt(end + 1) === "{") {
        this.#open.push(depth);
        return this.#mask(end + 2);
      }
    }
    this.#mask(this.#text.length);
  }

  #mask(to: number): void {
    const text = this.#text.slice(this.#at, to);
    const isComment = /^(?:\/[/*]|#|--)/.test(text);
    this.#out += `${isComment ? "" : '"'}${text.replace(/[^\n]+/g, " ").replaceAll("\n", `\n${INSIDE}`)}`;
    this.#at = to;
  }
}
