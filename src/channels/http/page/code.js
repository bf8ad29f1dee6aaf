import { clean, element } from "./dom.js";

/** Longer texts stay plain. */
const COLOURED_CHARS = 20_000;
const WORDS =
  "as async await break case catch class const continue default delete do else export extends finally for from function if import in instanceof interface let new of return static super switch this throw try type typeof var void while yield";
const VALUES = "true false null undefined NaN Infinity";
const TOKENS = new RegExp(
  [
    "(?<comment>//[^\\n]*|/\\*[^]*?\\*/)",
    "(?<string>\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)*'|`(?:[^`\\\\]|\\\\[^])*`)",
    "(?<number>\\b\\d[\\w.]*)",
    `(?<word>\\b(?:${WORDS.replaceAll(" ", "|")})\\b)`,
    `(?<value>\\b(?:${VALUES.replaceAll(" ", "|")})\\b)`,
    "(?<call>\\b[A-Za-z_$][\\w$]*(?=\\())",
  ].join("|"),
  "g",
);

/** Code as nodes, its words in colours. */
export function coloured(code) {
  const text = clean(code);
  if (text.length > COLOURED_CHARS) return [document.createTextNode(text)];
  const nodes = [];
  let from = 0;
  for (const { 0: found, index, groups } of text.matchAll(TOKENS)) {
    if (index > from) nodes.push(document.createTextNode(text.slice(from, index)));
    const [kind] = Object.entries(groups).find(([, value]) => value !== undefined);
    nodes.push(element("span", { class: `t-${kind}`, text: found }));
    from = index + found.length;
  }
  if (from < text.length) nodes.push(document.createTextNode(text.slice(from)));
  return nodes;
}
