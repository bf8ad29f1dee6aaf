import type { ModuleTokens } from "./module_tokens.ts";

/** The first token of the second module that differs or is on the other side of a line break; "" for the end of the
 * first module; null if both are the same program. */
export function tokenDifference({ tokens }: ModuleTokens, { tokens: others }: ModuleTokens): string | null {
  const at = tokens.findIndex(({ type, text, onNewLine }, index) => {
    const other = others[index];
    return other?.type !== type || other.text !== text || other.onNewLine !== onNewLine;
  });
  if (at < 0) return others.length === tokens.length ? null : "";
  return tokens[at]?.text ?? "";
}
