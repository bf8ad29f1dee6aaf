import type { VariableIndex } from "./variable_index.ts";

/** Which of the names a block may use: it names them, or it names a function or class that does, directly or not. */
export function namesOf(
  code: string,
  { names, index }: { readonly names: ReadonlySet<string>; readonly index: VariableIndex },
): string[] {
  if (names.size === 0) return [];
  const words = new Set<string>();
  const texts = [code];
  const functions = new Map(
    index.all().filter(({ kind }) => kind === "function" || kind === "class").map((head) => [head.name, head.code]),
  );
  for (let at = 0; at < texts.length; at++) {
    for (const word of texts[at]?.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu) ?? []) {
      if (words.has(word)) continue;
      words.add(word);
      const source = functions.get(word);
      if (source !== undefined) texts.push(source);
    }
  }
  if (words.has("globalThis")) return [...names];
  return [...names].filter((name) => words.has(name));
}
