import { codeOnly } from "../syntax/code_only.ts";

/** Blanks out `import B = A.B`, which the stripper writes as `const B = A.B`, if `A` is a namespace of types alone, of
 * which nothing is left. The length of the text stays the same. */
export function withoutTypeAliases(js: string, typed: string): string {
  const code = codeOnly(typed);
  let text = js;
  for (const [, alias = "", root = ""] of code.matchAll(/(?<![\w$.])import\s+([\w$]+)\s*=\s*([\w$]+)\s*\./g)) {
    if (!word("namespace", root).test(code) || word("(?:var|let|const|class|function)", root).test(js)) continue;
    text = text.replace(
      new RegExp(`const ${escaped(alias)} = ${escaped(root)}[\\w$.]+;?`),
      (found) => " ".repeat(found.length),
    );
  }
  return text;
}

function word(before: string, name: string): RegExp {
  return new RegExp(`(?<![\\w$.])${before}\\s+${escaped(name)}(?![\\w$])`);
}

function escaped(name: string): string {
  return name.replaceAll("$", "\\$");
}
