import { clean, element } from "./dom.js";

/** Longer code is shown without colours. */
const COLOURED_CHARS = 20_000;
const SCRIPT =
  "abstract any as async await break case catch class const continue declare default defer delete do else enum export extends finally fn for from func function go if impl implements import in instanceof interface let loop match mod mut namespace new of package private protected pub public readonly return satisfies static struct super switch this throw throws trait try type typeof use var void where while yield";
const PYTHON =
  "and as assert async await begin break case class continue def del do done elif else elsif end esac except export fi finally for from function global if import in is lambda local match module nonlocal not or pass raise require return self set then try unless until while with yield";
const QUERY =
  "add alter and as asc between by case create delete desc distinct drop else end exists from full group having in index inner insert into is join key left like limit not null offset on or order outer primary references returning right select set table then union unique update using values view when where with";
const VALUES = "true|false|null|undefined|None|True|False|nil|NaN|Infinity";
const QUOTED = "\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)*'";

const BRACES = tokens({
  comment: "//[^\\n]*|/\\*[^]*?\\*/",
  quoted: `${QUOTED}|\`(?:[^\`\\\\]|\\\\[^])*\``,
  words: SCRIPT,
});
const HASHES = tokens({ comment: "(?<![\\w$])#[^\\n]*", quoted: `"""[^]*?"""|${QUOTED}`, words: PYTHON });
const TABLES = tokens({ comment: "--[^\\n]*|/\\*[^]*?\\*/", quoted: QUOTED, words: QUERY, flags: "gi" });
/** Other languages are shown without colours. */
const LANGUAGES = new Map([
  ...named(BRACES, "c cpp cs csharp dart go java javascript js json json5 jsonc jsx kotlin kt php rs rust scala swift"),
  ...named(BRACES, "ts tsx typescript"),
  ...named(HASHES, "bash py python rb ruby sh shell toml yaml yml zsh"),
  ...named(TABLES, "postgresql sql sqlite"),
]);

function tokens({ comment, quoted, words, flags = "g" }) {
  return new RegExp(
    [
      `(?<comment>${comment})`,
      `(?<string>${quoted})`,
      "(?<number>\\b\\d[\\w.]*)",
      `(?<value>\\b(?:${VALUES})\\b)`,
      `(?<word>\\b(?:${words.replaceAll(" ", "|")})\\b)`,
      "(?<call>\\b[A-Za-z_$][\\w$]*(?=\\())",
    ].join("|"),
    flags,
  );
}

function named(pattern, list) {
  return list.split(" ").map((name) => [name, pattern]);
}

/** Code as nodes with syntax colours. */
export function coloured(code, { language = "ts" } = {}) {
  const text = clean(code);
  const pattern = LANGUAGES.get(language.toLowerCase());
  if (!pattern || text.length > COLOURED_CHARS) return [document.createTextNode(text)];
  const nodes = [];
  let from = 0;
  for (const { 0: found, index, groups } of text.matchAll(pattern)) {
    if (index > from) nodes.push(document.createTextNode(text.slice(from, index)));
    const [kind] = Object.entries(groups).find(([, value]) => value !== undefined);
    nodes.push(element("span", { class: `t-${kind}`, text: found }));
    from = index + found.length;
  }
  if (from < text.length) nodes.push(document.createTextNode(text.slice(from)));
  return nodes;
}
