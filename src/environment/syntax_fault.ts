import type { SourceFault } from "../extension/spec.ts";

const MAX_CHARS = 1 << 20;

const WITH_COMMENTS =
  /\.jsonc$|(?:^|\/)(?:(?:ts|js)config[^/]*|deno|\.?(?:eslintrc|babelrc|swcrc|jshintrc|jscsrc|devcontainer)|devcontainer|turbo|nx|api-extractor|wrangler|biome|rush|renovate|tslint|typedoc|language-configuration|composer\.local|\.oxlintrc|\.lintstagedrc|\.prettierrc|\.stylelintrc|\.markdownlint|cspell|\.cspell)\.json$|(?:^|\/)(?:\.vscode|\.devcontainer|\.zed|\.config|\.sublime[^/]*)\/[^/]*\.json$/i;

export async function sourceFault(path: string, text: string): Promise<SourceFault | null> {
  if (text.length > MAX_CHARS) return null;
  if (text.trim() === "") return /\.json$/i.test(path) ? { line: 1, message: "an empty file is not JSON" } : null;
  try {
    const fault = /\.jsonc?$/i.test(path) ? jsonFault(path, text) : await moduleFault(path, text);
    return fault && { ...fault, line: Math.min(fault.line, text.trimEnd().split("\n").length) };
  } catch {
    return null; // A failure of the parser is no evidence against the file.
  }
}

async function moduleFault(path: string, text: string): Promise<SourceFault | null> {
  if (!/\.[cm]?[jt]sx?$/i.test(path)) return null;
  const { moduleTextFault, sucraseLoader, sucraseText } = await import("../sandbox/modules/modules.ts");
  return moduleTextFault(path, text, sucraseLoader({ text: sucraseText() }));
}

const BLANK = /\s+|\ufeff/y, COMMENT = /\/\/[^\n]*|\/\*[^]*?\*\//y;
// deno-lint-ignore no-control-regex -- JSON has none of them in strings
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/y;
const TOKEN = /"[^"\n]{0,40}"?|[\w.$'-]{1,40}|[^]/y;

function jsonFault(path: string, text: string): SourceFault | null {
  try {
    JSON.parse(text.replace(/^\ufeff/, ""));
    return null;
  } catch { /* The error message does not always have the position. */ }
  return new JsonScanner(text, WITH_COMMENTS.test(path)).fault();
}

/** Deep nesting would overflow a recursive scanner, so this scanner has its own stack. */
class JsonScanner {
  readonly #text: string;
  readonly #isLoose: boolean;
  #at = 0;

  constructor(text: string, isLoose: boolean) {
    this.#text = text;
    this.#isLoose = isLoose;
  }

  fault(): SourceFault | null {
    const open: string[] = [];
    for (let wants: "value" | "first" | "more" = "value";;) {
      const broken = this.#blanks();
      if (broken !== null) return broken;
      const close = open.at(-1) === "{" ? "}" : "]";
      const isComma = wants === "more" && open.length > 0 && this.#take(",");
      if (isComma && this.#blanks() !== null) return this.#blanks();
      if (wants === "more" && open.length === 0) {
        return this.#at === this.#text.length ? null : this.#expected("the end");
      }
      const mayClose = wants === "first" || wants === "more" && (!isComma || this.#isLoose);
      if (open.length > 0 && mayClose && this.#take(close)) {
        open.pop();
        wants = "more";
        continue;
      }
      if (wants === "more" && !isComma) return this.#expected(`"," or "${close}"`);
      if (isComma && this.#text[this.#at] === close) return this.#fault(`a comma before "${close}" is not JSON`);
      if (open.at(-1) === "{") {
        if (!this.#match(STRING)) return this.#expected("a name in double quotes");
        const broken = this.#blanks();
        if (broken !== null) return broken;
        if (!this.#take(":")) return this.#expected('":"');
        const next = this.#blanks();
        if (next !== null) return next;
      }
      const bracket = this.#take("{") ? "{" : this.#take("[") ? "[" : null;
      if (bracket !== null) open.push(bracket);
      else if (!this.#match(STRING) && !this.#match(SCALAR)) return this.#expected("a value");
      wants = bracket === null ? "more" : "first";
    }
  }

  #blanks(): SourceFault | null {
    while (this.#match(BLANK) || this.#isLoose && this.#match(COMMENT));
    return !this.#isLoose && /^\/[/*]/.test(this.#text.slice(this.#at, this.#at + 2))
      ? this.#fault("a comment is not JSON")
      : null;
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #expected(what: string): SourceFault {
    TOKEN.lastIndex = this.#at;
    const found = TOKEN.exec(this.#text)?.[0];
    return this.#fault(`expected ${what}, found ${found === undefined ? "the end" : found.trim() || "a line end"}`);
  }

  #fault(message: string): SourceFault {
    const line = this.#text.slice(0, this.#at).split("\n").length;
    return { line, message };
  }
}
