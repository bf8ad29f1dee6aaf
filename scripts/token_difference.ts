import type { ModuleTokens } from "./module_tokens.ts";

/** The first token that is another, or stands on another side of a line's end, in the second module; "" for the end of
 * the first; null where both are the same program. */
export function tokenDifference({ tokens }: ModuleTokens, { tokens: others }: ModuleTokens): string | null {
  const at = tokens.findIndex(({ type, text, onNewLine }, index) => {
    const other = others[index];
    return other?.type !== type || other.text !== text || other.onNewLine !== onNewLine;
  });
  if (at < 0) return others.length === tokens.length ? null : "";
  return tokens[at]?.text ?? "";
}
