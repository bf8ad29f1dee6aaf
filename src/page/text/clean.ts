import { HIDDEN_CHARACTERS } from "../../domain/kit/text.ts";

/** Replaces characters that would move or hide other text, or that nobody sees, with visible signs. */
export function clean(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN_CHARACTERS, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 32) return String.fromCodePoint(0x2400 + code);
    return code === 127 ? "\u2421" : `\u2039U+${code.toString(16).toUpperCase()}\u203a`;
  });
}
