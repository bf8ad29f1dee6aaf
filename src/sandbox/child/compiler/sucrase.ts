/** The child's main thread reads this bundle before Landlock blocks files. The child evaluates the bundle when a block
 * first needs types stripped, so that the child starts faster. */
import { transform } from "sucrase";
// @ts-types="sucrase/dist/types/parser/index.d.ts"
import { parse } from "sucrase/dist/esm/parser/index.js";
// @ts-types="sucrase/dist/types/parser/tokenizer/types.d.ts"
import { TokenType } from "sucrase/dist/esm/parser/tokenizer/types.js";

/** Sucrase accepts any closing tag for the open element. */
function checkTags(text: string, { isTyped, isFlow }: Readonly<Record<"isTyped" | "isFlow", boolean>>): void {
  const { tokens } = parse(text, true, isTyped, isFlow);
  const typeAt = (at: number): TokenType | undefined => tokens[at]?.type;
  const open: string[] = [];
  for (const [at, { type, start }] of tokens.entries()) {
    const isSlash = typeAt(at - 1) === TokenType.slash && typeAt(at - 2) !== TokenType.jsxTagStart;
    if (type === TokenType.jsxTagEnd && isSlash) open.pop();
    if (type !== TokenType.jsxTagStart) continue;
    const isClosing = typeAt(at + 1) === TokenType.slash;
    const from = isClosing ? at + 2 : at + 1;
    let end = typeAt(from) === TokenType.jsxName ? from + 1 : from;
    while (typeAt(end) === TokenType.dot || typeAt(end) === TokenType.colon) end += 2;
    const name = tokens.slice(from, end).map((one) => text.slice(one.start, one.end)).join("");
    if (!isClosing) open.push(name);
    const expected = isClosing ? open.pop() ?? "" : name;
    if (name === expected) continue;
    const before = text.slice(0, start).split("\n");
    const place = `${before.length}:${(before.at(-1) ?? "").length + 1}`;
    throw new SyntaxError(`Expected </${expected}>, found </${name}> (${place})`);
  }
}

const checked: typeof transform = (text, options) => {
  const result = transform(text, options);
  const has = (name: typeof options.transforms[number]): boolean => options.transforms.includes(name);
  if (has("jsx")) checkTags(text, { isTyped: has("typescript"), isFlow: has("flow") });
  return result;
};

Reflect.set(globalThis, Symbol.for("sandbox.sucrase"), checked);
