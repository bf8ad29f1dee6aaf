const NAMES = ["comment", "string", "number", "value", "keyword", "call"] as const;

export interface CodeSpan {
  readonly kind: typeof NAMES[number] | "added" | "removed" | "place" | "file" | "plain";
  readonly text: string;
}

const SCRIPT =
  "abstract any as async await break case catch class const continue declare default defer delete do else enum export extends finally fn for from func function go if impl implements import in instanceof interface let loop match mod mut namespace new of package private protected pub public readonly return satisfies static struct super switch this throw throws trait try type typeof use var void where while yield";
const HASHED =
  "and as assert async await begin break case class continue def del do done elif else elsif end esac except export fi finally for from function global if import in is lambda local match module nonlocal not or pass raise require return self set then try unless until while with yield";
const QUERY =
  "add alter and as asc between by case create delete desc distinct drop else end exists from full group having in index inner insert into is join key left like limit not null offset on or order outer primary references returning right select set table then union unique update using values view when where with";
const VALUES = "true|false|null|undefined|None|True|False|nil|NaN|Infinity";

// An unclosed comment also matches, because a search for a missing end from each start takes quadratic time.
const BLOCK_COMMENT = String.raw`/\*(?:[^]*?\*/|[^]*$)`;
const QUOTED = String.raw`"(?:\\.|[^"\\\n])*"?|(?<!\w)'(?:\\.|[^'\\\n])*'?`;

const BRACES = pattern({
  comment: String.raw`//[^\n]*|${BLOCK_COMMENT}`,
  string: `${QUOTED}|\`(?:\\\\[^]|[^\`\\\\])*\`?`,
  words: SCRIPT,
});
const RUST = pattern({
  comment: String.raw`//[^\n]*|${BLOCK_COMMENT}`,
  string: String.raw`"(?:\\[^]|[^"\\])*"?|'(?:\\.|[^'\\\n])'`,
  words: SCRIPT,
});
const HASHES = pattern({
  comment: String.raw`(?<![\w$])#[^\n]*`,
  string: String
    .raw`"""(?:[^]*?"""|[^]*$)|'''(?:[^]*?'''|[^]*$)|(?<!\w)[bfruBFRU]{0,2}(?:"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)`,
  words: HASHED,
});
const TABLES = pattern({
  comment: String.raw`--[^\n]*|${BLOCK_COMMENT}`,
  string: QUOTED,
  words: QUERY,
  flags: "gi",
});
const STYLES = pattern({ comment: BLOCK_COMMENT, string: QUOTED, words: "important", keyword: String.raw`@[\w-]+` });
const TAGS = pattern({
  comment: "<!--(?:[^]*?-->|[^]*$)",
  string: String.raw`(?<==\s?)(?:"[^"]*"?|'[^']*'?)`,
  keyword: String.raw`<[/!?]?[A-Za-z][\w:.-]*|/?>`,
});

const LANGUAGES: ReadonlyMap<string, RegExp> = new Map([
  ...named(BRACES, "c cpp cs csharp dart go java javascript js json json5 jsonc jsx kotlin kt mjs php scala swift"),
  ...named(BRACES, "ts tsx typescript"),
  ...named(RUST, "rs rust"),
  ...named(HASHES, "bash dockerfile ini make makefile py python rb ruby sh shell toml yaml yml zsh"),
  ...named(TABLES, "postgresql sql sqlite"),
  ...named(STYLES, "css less scss"),
  ...named(TAGS, "html svg xml"),
]);

function pattern(
  { comment, string, words = "", keyword = "", flags = "g" }: {
    readonly comment: string;
    readonly string: string;
    readonly words?: string;
    readonly keyword?: string;
    readonly flags?: string;
  },
): RegExp {
  const keywords = [keyword, words === "" ? "" : String.raw`\b(?:${words.replaceAll(" ", "|")})\b`];
  const groups = [
    comment,
    string,
    String.raw`\b\d[\w.]*`,
    String.raw`\b(?:${VALUES})\b`,
    keywords.filter((one) => one !== "").join("|"),
    String.raw`\b[A-Za-z_$][\w$]*(?=\()`,
  ];
  return new RegExp(groups.map((group) => `(${group})`).join("|"), flags);
}

function named(language: RegExp, names: string): readonly (readonly [string, RegExp])[] {
  return names.split(" ").map((name) => [name, language]);
}

export function codeSpans(code: string, language: string): readonly CodeSpan[] {
  const name = language.toLowerCase();
  if (name === "diff" || name === "patch") return diffSpans(code);
  const spans: CodeSpan[] = [];
  const add = (kind: CodeSpan["kind"], text: string): void => void (text !== "" && spans.push({ kind, text }));
  let end = 0;
  for (const match of code.matchAll(LANGUAGES.get(name) ?? /$^/g)) {
    add("plain", code.slice(end, match.index));
    add(NAMES[match.slice(1).findIndex((group) => group !== undefined)] ?? "plain", match[0]);
    end = match.index + match[0].length;
  }
  add("plain", code.slice(end));
  return spans;
}

const PLACE = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/** Line ends are parts of the spans, so the joined spans are the same text. */
export function diffSpans(diff: string): readonly CodeSpan[] {
  const lines = diff.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  // Within the lines that a header counts, "---" and "+++" are changes and name no files.
  let [before, after] = [0, 0];
  return lines.map((text) => {
    const place = PLACE.exec(text);
    if (place) [before, after] = [Number(place[1] ?? 1), Number(place[2] ?? 1)];
    const kind = kindOf(text, before > 0 || after > 0);
    if (kind === "removed" || kind === "plain") before--;
    if (kind === "added" || kind === "plain") after--;
    return { kind, text };
  });
}

function kindOf(line: string, isInside: boolean): CodeSpan["kind"] {
  if (line.startsWith("@@")) return "place";
  if (!isInside && /^(?:diff |index |Index:|={9}|--- |\+\+\+ )/.test(line)) return "file";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "plain";
}
