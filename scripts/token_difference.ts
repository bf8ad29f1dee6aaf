import type { ModuleTokens } from "./module_tokens.ts";

/** Returns the first token of the first module that differs in the second, or is on the other side of a line break
 * there. Returns "" if the first module ends before the second, and null if both are the same program. */
export function tokenDifference({ tokens }: ModuleTokens, { tokens: others }: ModuleTokens): string | null {
  const at = tokens.findIndex(({ type, text, onNewLine }, index) => {
    const other = others[index];
    return other?.type !== type || other.text !== text || other.onNewLine !== onNewLine;
  });
  if (at < 0) return others.length === tokens.length ? null : "";
  return tokens[at]?.text ?? "";
}
