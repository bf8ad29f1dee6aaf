import type { ModuleTokens } from "./module_tokens.ts";

/** Returns null if both modules are the same program, and "" if only the second module has more tokens. */
export function tokenDifference({ tokens }: ModuleTokens, { tokens: others }: ModuleTokens): string | null {
  const at = tokens.findIndex(({ type, text, onNewLine }, index) => {
    const other = others[index];
    return other?.type !== type || other.text !== text || other.onNewLine !== onNewLine;
  });
  if (at < 0) return others.length === tokens.length ? null : "";
  return tokens[at]?.text ?? "";
}
